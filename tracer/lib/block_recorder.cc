#include "tracer/lib/block_recorder.h"

#include <cstring>
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

}  // namespace gt::tracer
