// The collector: turns the records of a run into a Trace while the program runs.
//
//   record ──► decode ──► name (names.h) ──► shape + values ──► fold (one Folder per thread and
//   kind of call)
//                                                └──► statistics per shape, device time per device
//
// Inputs are named when a call is entered, outputs when it returns; what a call releases loses its
// name on entry, what it creates gets one on return. So a name is never given to two live objects,
// whatever threads do meanwhile. Memory: grows with the number of distinct shapes and with what
// does not fold, not with the number of calls. Thread safety: none; one collector, one thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tracer/collect/chains.h"
#include "tracer/collect/command_times.h"
#include "tracer/collect/interning.h"
#include "tracer/collect/known_objects.h"
#include "tracer/collect/names.h"
#include "tracer/collect/size_budget.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/timed_objects.h"
#include "traces/api/api.h"
#include "traces/api/decode.h"
#include "traces/model/fold/event.h"
#include "traces/model/fold/fold.h"
#include "traces/model/folded/kernel_origin.h"

namespace gt::tracer {

struct HashBlob {
  size_t operator()(const model::Blob& b) const;
};
struct HashShape {
  size_t operator()(const model::Shape& s) const;
};
class Collector {
 public:
  explicit Collector(double ns_per_tick, uint64_t start_ticks);
  void limit_size(uint64_t max_bytes) { budget_ = SizeBudget(max_bytes); }
  ~Collector();

  void take(const RecordView& record);
  void ring_ended(uint32_t ring);
  // Each call's time goes into its stream's timeline. Before the first record.
  void keep_times() { keep_times_ = true; }

  uint64_t calls() const { return calls_; }
  uint64_t memory_calls() const { return memory_calls_; }
  // Processes seen, by pid; those with an OpenCL call.
  bool any_opencl() const { return calls_ > 0; }

  // The trace so far; calls that were entered and have not returned appear as unfinished. Ends this
  // collector.
  model::Trace finish();

 private:
  struct Process;
  struct Thread;
  struct Device;
  struct Program {
    model::BlobId source = model::NoIndex;  // what its kernels are compiled from, headers included
    model::BlobId options = model::NoIndex;
    model::BlobId text = model::NoIndex;  // what it was made from
  };
  struct Placed {  // a command in a timeline whose device time is still to come
    Thread* thread;     // that made the call...
    uint32_t device;
    uint64_t event;     // ...which is this one of its stream...
    uint64_t entry_ns;  // ...and was entered then
  };

  struct Callback {  // a function of the program that the driver may call
    ObjectRef object;
    Thread* by;                         // registered it
    uint64_t subject_handle = 0;        // what it was registered for
    ObjectRef subject;                  // its name at that time: it may be released before it calls back
    bool build = false;                 // it tells of the end of a build, also of one that failed
    bool called = false;
  };

  Thread& thread_of(const RecordView& record) {
    Thread* const known = record.ring < by_ring_.size() ? by_ring_[record.ring] : nullptr;
    return known ? *known : meet_thread(record);
  }
  Thread& meet_thread(const RecordView& record);
  Thread& new_thread(Process& process, const RingHeader& owner);
  void begin_life(Thread& thread, const RingHeader& owner);
  Process& process_of(int64_t pid, int64_t parent);

  void take_enter(const RecordView& record);
  bool recall(Thread& thread, ByteView inputs);  // call_memo.cc
  template <class Memo>
  bool still_means(Thread& thread, const Memo& memo);
  void memorise(Thread& thread, ByteView inputs);
  bool recall_results(Thread& thread, ByteView outputs);
  void memorise_results(Thread& thread, ByteView outputs, size_t args, size_t values);
  void take_exit(Thread& thread, const RecordView& record, bool timed);
  void begin_call(Thread& thread, const RecordView& record, model::SiteId site, uint64_t stack_pointer);
  void take_memory(Thread& thread, const RecordView& record);
  void take_frames(Thread& thread, const RecordView& record);
  bool take_block(Thread& thread, const RecordView& record);
  bool make_block(Thread& thread, const RecordView& record);
  bool free_block(Thread& thread, const RecordView& record);
  void count_memory_call(Thread& thread, model::ShapeId shape, std::span<const int64_t> values, uint64_t ticks);
  bool enter_memory(Thread& thread, const RecordView& record);
  void end_memory_call(Thread& thread, bool unfinished);
  void take_device_time(const RecordView& record);
  void take_process(Thread& thread, const RecordView& record);
  void take_module(Thread& thread, const RecordView& record);
  void take_device(Thread& thread, const RecordView& record);
  void take_content(Thread& thread, const RecordView& record);
  void take_memory_facts(Thread& thread, const RecordView& record);
  void take_command_arg(Thread& thread, const RecordView& record);

  // Callbacks, and the annexes that they run in (callbacks.cc).
  void take_thread_end(const RecordView& record);
  void take_register(Thread& thread, const RecordView& record);
  void take_callback_enter(Thread& annex, const RecordView& record);
  void take_callback_exit(Thread& annex, const RecordView& record);
  Thread& annex_for(const RecordView& record);
  Thread& free_annex(Thread& owner, const RingHeader& runner);
  void leave_annex(uint32_t ring, bool unfinished);
  void list_callback(Thread& annex, bool unfinished, std::optional<uint64_t> ns = std::nullopt);
  void leave_jumped_out_of(uint32_t ring, uint64_t stack_pointer);
  Thread* where_open(Thread& thread, const RecordView& exit);
  void define_callback(Thread& thread);
  void name_given(Thread& annex, const api::DecodedArg& arg, const Callback* callback);

  // One decoded argument of the pending call: appended to its shape and values.
  void name_argument(Thread& thread, const api::DecodedArg& arg, bool output);
  ObjectRef name_handle(Thread& thread, const api::DecodedArg& arg, bool output);
  ObjectRef create_handle(Thread& thread, const api::DecodedArg& arg);
  Place place_of(Thread& thread, uint64_t address);
  void add_place(Thread& thread, uint16_t param, model::Effect effect, const Place& place);

  void release_handle(Thread& thread, uint64_t handle);
  void drop_handle(Thread& thread, uint64_t handle);
  void before_call(Thread& thread);  // what the inputs of some calls mean for later ones
  void after_call(Thread& thread);   // the same for outputs
  void note_pointer(Thread& thread, const api::DecodedArg& arg);
  void name_kernel_arg(Thread& thread, const api::DecodedArg& arg);
  void name_returned_memory(Thread& thread, const api::DecodedArg& arg);
  BoundArg bound_value(Process& process, uint64_t value);
  void bind_kernel_arg(Thread& thread, const BoundArg& arg);
  void add_bound_args(Thread& thread);
  bool ends_memory(Thread& thread, const api::DecodedArg& arg);
  const Memory* given_back(Thread& thread, const api::DecodedArg& arg);
  void end_memory(Thread& thread, uint64_t base);
  void note_mapping(Thread& thread);

  // What calls touch without naming it: implied.cc.
  model::Effect touch(Thread& thread, uint64_t handle, ObjectRef object, model::Effect effect);
  void imply(Thread& thread, const Implied& touched);
  void add_implied(Thread& thread);
  void replay_commands(Thread& thread);
  void record_command(Thread& thread);

  // Sources, as their kernels see them: program_texts.cc.
  Program program_of(Thread& thread);
  void compile_program(Thread& thread);
  model::BlobId kernel_label(Thread& thread, uint64_t kernel);
  void take_kernel_name(Thread& thread, const RecordView& record);
  void take_kernel_args(Thread& thread, const RecordView& record);
  void note_kernel(Thread& thread, uint64_t handle, model::ClassId cls, uint32_t program);
  void end_call(Thread& thread, bool unfinished, uint64_t ticks, bool timed);

  model::ClassId class_of(Thread& thread, model::ObjectKind kind,
                          model::BlobId label = model::NoIndex);
  model::ClassId class_of_data(uint32_t module);  // its static data
  model::Site place_in_module(Process& process, uint64_t address);
  model::SiteId site_of(Process& process, uint64_t address);
  model::SiteId site_of(Process& process, uint64_t address, std::span<const uint64_t> around);
  model::BlobId blob_of(ByteView bytes, uint64_t full_size);
  model::ShapeId intern_shape(const model::Shape& shape);
  model::ShapeId shape_of_call(Thread& thread);  // of the pending one
  uint32_t device_of(Process& process, uint64_t handle);
  uint64_t to_ns(uint64_t t) const {
    constexpr double Most = 1e18;  // thirty years: records may say anything
    const double ns = static_cast<double>(t) * ns_per_tick_;
    return static_cast<uint64_t>(ns < Most ? ns : Most);
  }
  // Since the start of recording.
  uint64_t time_of(uint64_t ticks) const { return to_ns(ticks > start_ticks_ ? ticks - start_ticks_ : 0); }

  void keep_within_budget();
  void add_device_times();

  double ns_per_tick_;
  uint64_t start_ticks_;
  bool keep_times_ = false;
  model::Trace trace_;
  Interning<model::Site, HashSite> sites_;  // the plain ones; those with a chain are chains_'
  Chains chains_;
  Interning<model::Blob, HashBlob> blobs_;
  Interning<model::Shape, HashShape> shapes_;
  Names names_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> by_ring_;
  std::vector<uint64_t> driver_sequences_;  // by ring: Enter records seen while no thread of the trace stood for it
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Program> programs_;
  model::KernelOrigins origins_;  // of the kernels of each class
  std::vector<model::ClassId> data_classes_;  // by module
  CommandTimes times_;                           // keys: thread and sequence number
  TimedObjects timed_;
  std::unordered_map<uint64_t, Placed> placed_;  // by the same keys; with timelines only
  std::vector<api::DecodedArg> decoded_;       // scratch
  std::vector<int64_t> scratch_;
  SizeBudget budget_;
  uint64_t records_ = 0;
  uint64_t calls_ = 0, memory_calls_ = 0, undecodable_ = 0, foreign_releases_ = 0, last_ticks_ = 0;
  uint64_t callbacks_ = 0, capture_ticks_ = 0;
};

}  // namespace gt::tracer
