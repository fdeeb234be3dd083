// Memory calls that only make a block, or only give one back: one by one, as words, and as calls that repeat.
#include <cstring>
#include <utility>

#include "tracer/collect/memory_calls.h"

namespace gt::tracer {

using api::AllocFn;

inline bool MemoryCalls::make_block(TracedThread& thread, State& state, BlockForm& form, const BlockCall& call,
                                    uint64_t ticks) {
  if (call.address == 0) return false;
  const BlockShape* const known = form.shape_of(state.blocks, model::NoIndex);
  if (!known) return false;
  const ObjectRef object = name_made(thread, known->out, call.address, call.bytes);
  tables_.trace.stats[known->shape].bytes.add(call.bytes);
  const int64_t values[] = {static_cast<int64_t>(call.bytes), object.slot};
  count(state, known->shape, values, ticks);
  return true;
}

inline bool MemoryCalls::free_block(TracedThread& thread, State& state, BlockForm& form, const BlockCall& call,
                                    uint64_t ticks) {
  const BlockShape* known = nullptr;
  Place place;
  const bool taken = thread.process->objects.take_memory_if(call.address, [&](const Place& found) {
    known = form.shape_of(state.blocks, found.object.cls);
    place = found;
    return known != nullptr;
  });
  if (!taken) return false;
  const int64_t values[] = {place.object.slot, static_cast<int64_t>(place.offset), static_cast<int64_t>(call.bytes)};
  names_.release(place.object, thread.id);
  count(state, known->shape, std::span(values).first(known->values), ticks);
  return true;
}

// Most memory calls make one block, or free one, from a place that did so before: nothing but names is left to find.
// False: this is no such call, or not one that is known.
bool MemoryCalls::take_block(TracedThread& thread, State& state, const RecordView& record) {
  if (!state.frames.empty()) return false;
  const api::AllocFnInfo& info = api::alloc_fn_info(record.header.fn);
  const bool makes = record.header.type == RecordType::Allocate && makes_block(info);
  if (!makes && (record.header.type != RecordType::Release || !frees_block(info))) return false;
  ByteReader in(record.payload);
  BlockForm form{.fn = record.header.fn, .address = in.fixed64()};
  form.site = tables_.site_of(*thread.process, form.address);
  BlockCall call{};
  if (makes) call.bytes = in.fixed64();
  call.address = in.fixed64();
  if (frees_block(info) && is_sized(info)) call.bytes = in.fixed64();
  if (!in.at_end()) return false;
  return makes ? make_block(thread, state, form, call, record.header.ticks)
               : free_block(thread, state, form, call, record.header.ticks);
}

bool MemoryCalls::take_form(const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t slot = in.fixed64(), form = in.fixed64();
  if (!in.ok() || slot >= BlockFormCount || !api::is_alloc_fn(static_cast<uint16_t>(form))) return false;
  block_forms_.of(record.ring).forms[slot] = {.fn = static_cast<uint16_t>(form), .address = form >> 16};
  return true;
}

// What the word at `at` speaks of is soon asked for.
static void prefetch(TracedThread& thread, const RingBlocks& ring, const RecordView& run, size_t at) {
  if (at + 8 > run.payload.size()) return;
  uint64_t word = 0;
  std::memcpy(&word, run.payload.data() + at, sizeof word);
  thread.process->objects.prefetch_block(block_call(word, ring.base).address);
}

uint64_t MemoryCalls::take_blocks(TracedThread& thread, const RecordView& run) {
  State& state = of(thread);
  if (state.call.open) end(thread, state, true);
  RingBlocks& ring = block_forms_.of(run.ring);
  uint64_t ticks = run.header.ticks, senseless = 0;
  constexpr size_t Ahead = 8;  // words
  for (size_t at = 0; at + 8 <= run.payload.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, run.payload.data() + at, sizeof word);
    prefetch(thread, ring, run, at + 8 * Ahead);
    if (tag_of(word) == BlockTag::Base) {
      ring.base = base_in(word);
    } else {
      senseless += !take_word(thread, state, ring, word, run, ++ticks);
    }
  }
  return senseless;
}

uint64_t MemoryCalls::take_repeat(TracedThread& thread, const RecordView& repeat) {
  State& state = of(thread);
  if (state.call.open) end(thread, state, true);
  RingBlocks& ring = block_forms_.of(repeat.ring);
  const uint64_t period = repeat.payload.size() / 8;
  if (period == 0) return 1;
  uint64_t call = repeat.first_call, left = repeat.calls, senseless = 0;
  const auto take_next = [&](uint64_t n) {
    for (; n > 0; --n, --left, ++call) {
      uint64_t word = 0;
      std::memcpy(&word, repeat.payload.data() + call % period * 8, sizeof word);
      senseless += !take_word(thread, state, ring, word, repeat, repeat.header.ticks + call + 1);
    }
  };
  // Two periods in which each call had the same names: what lives is the same after both, and so after every other.
  std::vector<model::PushedEvent> before, now;
  for (bool first = true; left >= 2 * period && !state.times; first = false) {
    const uint64_t foreign_before = foreign_releases_, senseless_before = senseless;
    noted_ = &now;
    take_next(period);
    noted_ = nullptr;
    if (!first && now == before) {
      const uint64_t times = left / period;
      count_again(state, now, times);
      foreign_releases_ += times * (foreign_releases_ - foreign_before);
      senseless += times * (senseless - senseless_before);
      left -= times * period;
      call += times * period;
      break;
    }
    std::swap(now, before);
    now.clear();
  }
  take_next(left);
  return senseless;
}

bool MemoryCalls::take_word(TracedThread& thread, State& state, RingBlocks& ring, uint64_t word,
                            const RecordView& run, uint64_t ticks) {
  TracedProcess& process = *thread.process;
  const BlockCall call = block_call(word, ring.base);
  BlockForm& form = ring.forms[call.form];
  if (!is_block_call(call.tag) || block_tag(static_cast<AllocFn>(form.fn)) != call.tag || call.address == 0)
    return false;
  if (form.process != &process || form.modules != process.module_changes) {
    form.site = tables_.site_of(process, form.address);
    form.process = &process;
    form.modules = process.module_changes;
  }
  if (!state.frames.empty()) return take_long_way(thread, form, call, run, ticks);
  const bool known = call.tag == BlockTag::Made ? make_block(thread, state, form, call, ticks)
                                                : free_block(thread, state, form, call, ticks);
  return known || take_long_way(thread, form, call, run, ticks);
}

void MemoryCalls::count_again(State& state, std::span<const model::PushedEvent> period, uint64_t times) {
  calls_ += times * period.size();
  state.since_asked += times * period.size();
  for (const model::PushedEvent& event : period) {
    model::ShapeStats& stats = tables_.trace.stats[event.shape];
    stats.calls += times;
    if (stats.bytes.count > 0) stats.bytes.add(static_cast<uint64_t>(event.values[0]), times);  // it made a block
  }
  folding_.push_again(state.stream, period, times);
}

// As the record that it would have been.
bool MemoryCalls::take_long_way(TracedThread& thread, const BlockForm& form, const BlockCall& call,
                                const RecordView& run, uint64_t ticks) {
  const bool made = call.tag == BlockTag::Made, sized = call.tag == BlockTag::FreedSized;
  const uint64_t words[] = {form.address, made ? call.bytes : call.address, made ? call.address : call.bytes};
  const std::span<const uint64_t> given(words, made || sized ? 3 : 2);
  const RecordHeader header{static_cast<uint32_t>(sizeof header + given.size_bytes()),
                            made ? RecordType::Allocate : RecordType::Release, form.fn, ticks};
  return take(thread, {header, ByteView(reinterpret_cast<const uint8_t*>(given.data()), given.size_bytes()), run.ring,
                       run.owner});
}

}  // namespace gt::tracer
