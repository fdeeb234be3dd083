#include "tracer/lib/block_recorder.h"

#include <cstring>
#include <new>
#include <utility>

namespace gt::tracer {

__attribute__((noinline)) bool define_form(Ring& ring, uint32_t slot, uint64_t form) {
  constexpr uint32_t Bytes = sizeof(RecordHeader) + 24;
  uint8_t* at = reserve(ring, RecordType::BlockForm, 0, Bytes, ticks());
  if (!at) return false;
  const uint64_t words[] = {slot, form, std::exchange(ring.header->forms[slot], form)};
  std::memcpy(at, words, sizeof words);
  commit(ring, Bytes);
  return true;
}

__attribute__((noinline)) void begin_repeat(Ring& ring) {
  Repeats& repeats = ring.header->repeats;
  const uint32_t period = repeats.period();
  const bool counted = ring.clock.left != 0 && ring.clock.position == ring.position;
  if (!counted || spool()->exact_times || !is_alone(*spool(), ring)) return repeats.forget();
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader) + sizeof(RepeatRecord) + 8 * period);
  uint8_t* at = reserve(ring, RecordType::Repeat, static_cast<uint16_t>(period), bytes, ring.clock.last);
  if (!at) return repeats.forget();
  auto* const record = new (at) RepeatRecord();
  auto* const words = reinterpret_cast<uint64_t*>(record + 1);
  for (uint32_t i = 0; i < period; ++i) words[i] = repeats.word(i);
  commit(ring, bytes);
  ring.repeat = {&record->calls, words, period, 0, ring.position};
}

}  // namespace gt::tracer
