#include "optimizer-rt/client/transfer/transfer_mode.h"

#include "optimizer-rt/client/session/bounce_buffer.h"
#include "transport/protocol/messages.h"

namespace gt::virt {
namespace {

// Measured on an H200's host (docs/measurements/remote.md).
constexpr size_t InlineReads = size_t{4} << 10, InlineWrites = size_t{16} << 10;

bool is_small(const TransferFacts& f) { return f.bytes <= wire::LargestInline; }
bool is_straight(const TransferFacts& f) { return f.dense && !f.faults && !f.deferred; }
bool fits_ring(const TransferFacts& f) { return f.ring && f.bytes <= BounceBuffer::Largest; }

}  // namespace

size_t largest_inline_write(bool shares_memory) { return shares_memory ? InlineWrites : wire::LargestInline; }
size_t largest_inline_read(bool shares_memory) { return shares_memory ? InlineReads : wire::LargestInline; }

TransferMode choose_write(const TransferFacts& f) {
  const bool small = is_small(f), straight = is_straight(f);
  if (small && (!f.has_event || f.bytes <= largest_inline_write(f.shares_memory))) return TransferMode::Inline;
  if (!small && f.has_event && straight && f.maps_program) return TransferMode::InPlace;
  if (f.has_event && fits_ring(f)) return TransferMode::Ring;
  if (small) return TransferMode::Inline;
  if (straight) return TransferMode::Stream;
  return f.has_event && f.maps_copy ? TransferMode::SharedCopy : TransferMode::StreamCopy;
}

std::optional<TransferMode> choose_late_write(const TransferFacts& f) {
  if (f.dense && f.maps_program) return TransferMode::InPlace;
  if (!f.dense && fits_ring(f)) return TransferMode::Ring;
  if (!f.dense && f.maps_copy) return TransferMode::SharedCopy;
  if (!f.end_known) return std::nullopt;
  return f.dense ? TransferMode::Stream : TransferMode::StreamCopy;
}

TransferMode choose_read(const TransferFacts& f) {
  const bool small = is_small(f), straight = is_straight(f);
  if (f.bytes <= largest_inline_read(f.shares_memory)) return TransferMode::Inline;
  if (!small && straight && f.maps_program) return TransferMode::InPlace;
  if (fits_ring(f)) return TransferMode::Ring;
  if (small) return TransferMode::Inline;
  if (straight) return TransferMode::Stream;
  return f.maps_copy ? TransferMode::SharedCopy : TransferMode::StreamCopy;
}

}  // namespace gt::virt
