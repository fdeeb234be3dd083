#include "transport/chunks/chunk_packer.h"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "traces/base/clock.h"
#include "traces/base/processors.h"
#include "transport/staging/machine_load.h"

namespace gt::chunks {
namespace {

constexpr size_t SampleBytes = size_t{16} << 10, SampleParts = 4;
constexpr double WorthIt = 0.95;      // more of a sample than this is left of what does not compress
constexpr double ClearlyLess = 0.95;  // numbers must be so much smaller than bytes

// Of one who runs: this thread.
bool processors_are_idle() {
  static staging::MachineLoad& load = *new staging::MachineLoad;
  static const bool opened = (load.open(usable_processors()), true);
  return opened && load.idle(1, monotonic_ns(), staging::running_threads) > 1;
}

// Of this thread.
uint64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Some bytes from its beginning, from its end and from between.
void take_sample(ByteView piece, std::vector<uint8_t>& to) {
  constexpr size_t Part = SampleBytes / SampleParts;
  to.resize(SampleBytes);
  for (size_t i = 0; i < SampleParts; ++i) {
    const size_t at = (piece.size() - Part) / (SampleParts - 1) * i / 8 * 8;
    std::memcpy(to.data() + i * Part, piece.data() + at, Part);
  }
}

}  // namespace

void ChunkPacker::open(Packing packing) {
  if (packing.number() == account_.packing().number()) return;
  account_.set(PiecePacker::available().ok() ? packing : Packing());
}

// As what its bytes compress best. How many of its bytes are likely to be left.
size_t ChunkPacker::look(ByteView piece) {
  ByteView sample = piece;
  if (piece.size() > 2 * SampleBytes) {
    take_sample(piece, sample_);
    sample = sample_;
  }
  packed_sample_.resize(std::max(packed_sample_.size(), sample.size()));
  size_t best = sample.size();
  element_ = 1;
  for (const uint8_t element : Elements) {
    const size_t n = packer_->pack(sample, element, account_.level(), std::span(packed_sample_).first(sample.size()));
    const double least = static_cast<double>(best) * (element == 1 ? 1 : ClearlyLess);
    if (n == 0 || static_cast<double>(n) >= least) continue;
    best = n;
    element_ = element;
  }
  since_look_ = 0;
  return best * piece.size() / sample.size();
}

size_t ChunkPacker::packed(ByteView piece, std::span<uint8_t> to) {
  constexpr unsigned LookEvery = 64;
  constexpr double Worse = 1.2;
  if (!packer_) packer_.emplace();
  const bool looks = element_ == 0 || ++since_look_ >= LookEvery;
  if (looks) {
    const size_t left = look(piece);
    if (account_.packing().is_auto() && static_cast<double>(left) > WorthIt * static_cast<double>(piece.size())) {
      element_ = 0;
      return 0;
    }
  }
  const size_t n = packer_->pack(piece, element_, account_.level(), to.first(piece.size() - 1));
  const double share = n ? static_cast<double>(n) / static_cast<double>(piece.size()) : 1;
  if (share > WorthIt || (!looks && share > Worse * share_)) element_ = 0;  // it may be other data
  share_ = share;
  return n;
}

size_t ChunkPacker::pack(ByteView piece, std::span<uint8_t> to) {
  constexpr size_t Least = 1024;
  if (piece.size() < Least || !account_.may_try()) return account_.sent(piece.size()), 0;
  const uint64_t begin = monotonic_ns(), worked = processor_ns();
  const size_t n = packed(piece, to);
  const bool idle = account_.packing().is_auto() && processors_are_idle();
  account_.tried(piece.size(), n ? n : piece.size(), processor_ns() - worked, monotonic_ns() - begin, idle);
  account_.sent(n ? n : piece.size());
  return n;
}

// First each to where it would lie as it is, behind the numbers; then they move together, to the left.
size_t ChunkPacker::pack_chunk(ByteView chunk, std::vector<uint8_t>& to) {
  if (!account_.is_on()) return account_.sent(chunk.size()), 0;
  const size_t pieces = pieces_of(chunk.size()), head = pieces * sizeof(uint32_t);
  to.resize(std::max(to.size(), head + chunk.size()));
  bool any = false;
  const auto at_piece = [&](size_t i) { return head + i * PieceBytes; };
  for (size_t i = 0; i < pieces; ++i) {
    const ByteView piece = chunk.subspan(i * PieceBytes, piece_bytes(chunk.size(), i));
    const auto n = static_cast<uint32_t>(pack(piece, std::span(to).subspan(at_piece(i), piece.size())));
    std::memcpy(to.data() + i * sizeof n, &n, sizeof n);
    any = any || n != 0;
  }
  if (!any) return 0;
  size_t end = head;
  for (size_t i = 0; i < pieces; ++i) {
    uint32_t n = 0;
    std::memcpy(&n, to.data() + i * sizeof n, sizeof n);
    const size_t bytes = n ? n : piece_bytes(chunk.size(), i);
    if (n)
      std::memmove(to.data() + end, to.data() + at_piece(i), bytes);
    else
      std::memcpy(to.data() + end, chunk.data() + i * PieceBytes, bytes);
    end += bytes;
  }
  return end < chunk.size() ? end : 0;
}

}  // namespace gt::chunks
