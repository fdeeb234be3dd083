// Memory calls (malloc, mmap, strdup, ...): from their records to a shape, its values, and the streams of memory calls.
//
// What a call gives back loses its address when the call is entered, for another thread may be given it before the
// call returns; its name ends when the call has returned, and so realloc in a loop keeps its slots. A realloc that
// fails gets its memory back under the old name.
// Thread safety: none. Cost: a program makes them by the million, so the last shape of a form is remembered, and calls
// that only make or free a block come to two look-ups.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tracer/collect/block_forms.h"
#include "tracer/collect/folding_thread.h"
#include "tracer/collect/places.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/tick_clock.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"
#include "traces/api/alloc_fn.h"
#include "traces/model/fold/fold.h"
#include "traces/model/folded/timeline.h"

namespace gt::tracer {

// What of a memory call goes into its shape.
struct MemoryForm {
  uint16_t fn = 0;
  uint16_t present = 0;  // bit i: parameter i is not NULL
  bool made = false, ends_old = false, unfinished = false;
  model::ObjectKind kind = model::ObjectKind::Segment;  // of what it makes
  model::SiteId site = model::NoIndex;
  std::array<model::ClassId, 2> in{model::NoIndex, model::NoIndex};  // of the places given
  model::BlobId label = model::NoIndex;                              // of what it makes
  bool operator==(const MemoryForm&) const = default;
};

struct MemoryCall {
  static constexpr size_t MaxWords = 10;  // parameters, result, and what alloc_hooks.h adds
  bool open = false;
  const api::AllocFnInfo* info = nullptr;
  MemoryForm form;
  std::array<uint64_t, MaxWords> words{};
  uint64_t ticks = 0;               // of its last record
  size_t params = 0, given = 0;     // words that are parameters; words in all
  std::array<Place, 2> places;      // of the parameters that are addresses, in their order
  uint64_t old_size = 0;            // of the memory that it gives back, by that memory's own account
  std::vector<ObjectRef> ended;     // objects that lose their names when it has returned
  uint64_t made = 0, made_bytes = 0;
};

class MemoryCalls {
 public:
  // All must outlive it.
  MemoryCalls(TraceTables& tables, Places& places, const TickClock& clock)
      : tables_(tables), names_(tables.names), places_(places), clock_(clock) {}
  void keep_times() { keep_times_ = true; }  // before the first record

  // Allocate, Release, Returned. False: the record makes no sense.
  bool take(TracedThread& thread, const RecordView& record);
  // A run of block words: gives how many of them make no sense.
  uint64_t take_blocks(TracedThread& thread, const RecordView& run);
  // Calls of a period's words, over and over. Those that are all as they were one period before are taken in one step.
  uint64_t take_repeat(TracedThread& thread, const RecordView& repeat);
  bool take_form(const RecordView& record);  // what a block word's form stands for. False: no sense
  void ring_ended(uint32_t ring) { block_forms_.ring_ended(ring); }
  bool take_left_list(TracedThread& thread, const RecordView& record);  // of a block. False: no sense
  void take_frames(TracedThread& thread, const RecordView& record);  // around the site of the call that comes next
  // Another thread begins in this one's place, or the trace ends: a call that has not returned will not.
  void end_open(TracedThread& thread);

  void stop_thread() { folding_.stop(); }  // before a fork
  void program_ended() { folding_.program_ended(); }

  // Of this thread since it was last asked for.
  uint64_t calls_since(const TracedThread& thread) {
    State* state = states_.find(thread);
    return state ? std::exchange(state->since_asked, 0) : 0;
  }
  // The calls of a thread, which change no more before the next record; nullptr: it has made none. And their times;
  // nullptr: not kept.
  model::Folder* stream(const TracedThread& thread);
  const model::TimelineBuilder* times(const TracedThread& thread) const;

  uint64_t calls() const { return calls_; }
  // Releases of memory that the program never asked for, which are not listed.
  uint64_t foreign_releases() const { return foreign_releases_; }

 private:
  // Memory calls come from few places: the last shape of a form skips interning.
  struct Recent {
    MemoryForm form;
    model::ShapeId shape = model::NoIndex;
    model::ClassId out = model::NoIndex;  // of the memory that it makes
  };

  struct State {  // of a thread
    model::Folder stream;
    std::unique_ptr<model::TimelineBuilder> times;
    uint64_t since_asked = 0;
    MemoryCall call;               // that is being taken; `open` while it has been entered and has not returned
    std::vector<uint64_t> frames;  // around the site of the call that comes next
    std::array<Recent, 256> recent{};
    BlockShapes blocks;  // of calls that only make a block, or only give one back
  };

  State& of(const TracedThread& thread) {
    return states_.get(thread, [this](State& made) {
      if (keep_times_) made.times = std::make_unique<model::TimelineBuilder>();
    });
  }
  bool take_block(TracedThread& thread, State& state, const RecordView& record);
  // A call of this form that made or freed a block. False: not known yet.
  [[gnu::always_inline]] bool make_block(TracedThread& thread, State& state, BlockForm& form, const BlockCall& call,
                                         uint64_t ticks);
  [[gnu::always_inline]] bool free_block(TracedThread& thread, State& state, BlockForm& form, const BlockCall& call,
                                         uint64_t ticks);
  // One block word that is a call. False: it makes no sense.
  bool take_word(TracedThread& thread, State& state, RingBlocks& ring, uint64_t word, const RecordView& run,
                 uint64_t ticks);
  void count_again(State& state, std::span<const model::PushedEvent> period, uint64_t times);
  bool take_long_way(TracedThread& thread, const BlockForm& form, const BlockCall& call, const RecordView& run,
                     uint64_t ticks);
  [[gnu::always_inline]] void count(State& state, model::ShapeId shape, std::span<const int64_t> values,
                                    uint64_t ticks) {
    ++calls_;
    ++state.since_asked;
    ++tables_.trace.stats[shape].calls;
    folding_.push(state.stream, shape, values);
    if (__builtin_expect(noted_ || state.times, 0)) note(state, shape, values, ticks);
  }
  void note(State& state, model::ShapeId shape, std::span<const int64_t> values, uint64_t ticks);

  enum class Entered { Yes, Foreign, Senseless };
  Entered enter(TracedThread& thread, State& state, const RecordView& record);
  bool find_places(TracedThread& thread, MemoryCall& call);
  bool give_back(TracedThread& thread, MemoryCall& call, uint64_t address, Place& place);
  void name_kind(MemoryCall& call, ByteView payload);

  void end(TracedThread& thread, State& state, bool unfinished);
  bool settle(TracedThread& thread, MemoryCall& call, bool unfinished);
  const Recent& shape_of(TracedThread& thread, State& state);
  void release_ended(TracedThread& thread, MemoryCall& call, bool fails);
  // What began there is forgotten.
  [[gnu::always_inline]] ObjectRef name_made(TracedThread& thread, model::ClassId cls, uint64_t address,
                                             uint64_t bytes) {
    BlockTable::Block* const place = thread.process->objects.place_for_block(address, bytes);
    if (!place) return name_large(thread, cls, address, bytes);
    if (place->object.known()) names_.release(place->object, thread.id);
    *place = {names_.create(cls), static_cast<uint32_t>(bytes)};
    return place->object;
  }
  ObjectRef name_large(TracedThread& thread, model::ClassId cls, uint64_t address, uint64_t bytes);

  TraceTables& tables_;
  Names& names_;
  Places& places_;
  const TickClock& clock_;
  PerThread<State> states_;
  BlockForms block_forms_;
  FoldingThread folding_;  // ends before the streams do
  model::Shape shape_;     // scratch
  std::vector<model::PushedEvent>* noted_ = nullptr;  // where count() notes what it counts
  bool keep_times_ = false;
  uint64_t calls_ = 0, foreign_releases_ = 0;
};

}  // namespace gt::tracer
