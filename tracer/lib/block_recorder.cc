#include "tracer/lib/block_recorder.h"

#include <cstring>
#include <new>
#include <utility>

namespace gt::tracer {

namespace {

// A form has four slots to choose from, so places that call in turn seldom drive each other out.
constexpr uint32_t Ways = 4;

bool define_form(Ring& ring, uint32_t slot, uint64_t form) {
  constexpr uint32_t Bytes = sizeof(RecordHeader) + 24;
  uint8_t* at = reserve(ring, RecordType::BlockForm, 0, Bytes, ticks());
  if (!at) return false;
  const uint64_t words[] = {slot, form, std::exchange(ring.header->forms[slot], form)};
  std::memcpy(at, words, sizeof words);
  commit(ring, Bytes);
  return true;
}

}  // namespace

__attribute__((noinline)) uint32_t find_form(Ring& ring, uint64_t form) {
  const uint32_t first = form_slot(form);
  const uint64_t* const forms = ring.header->forms;
  uint32_t empty = Ways;
  for (uint32_t way = 0; way < Ways; ++way) {
    if (forms[first ^ way] == form) return first ^ way;
    if (forms[first ^ way] == 0 && empty == Ways) empty = way;
  }
  const uint32_t way = empty < Ways ? empty : (ring.position >> 3) % Ways;  // whichever: all may be in use
  return define_form(ring, first ^ way, form) ? first ^ way : BlockFormCount;
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
