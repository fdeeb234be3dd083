// libFuzzer: any bytes as what an executor puts into a program's memory and says of it. It is refused, or the read is
// whole; nothing is written beside its memory.
//
// Input: [bytes of the read low][high], then steps: [chunk and flags][length low][high][bytes...].
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "optimizer-rt/client/session/packed_reads.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/seeds.h"
#include "transport/chunks/chunk_packer.h"

using namespace gt;

namespace {

constexpr uint64_t Largest = 4096, Scale = 9;  // of a chunk; bytes of the read for one of the input
constexpr uint32_t Transfer = 1;

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  chunks::ChunkPacker packer;
  packer.open(chunks::Packing::always(1));
  const Bytes chunk(Largest, 5), rest(Scale * 500 - Largest, 6);
  Bytes packed, input = {500 & 255, 500 >> 8};
  const auto add = [&](uint8_t what, ByteView bytes) {
    for (const size_t byte : {size_t{what}, bytes.size() & 255, bytes.size() >> 8})
      input.push_back(static_cast<uint8_t>(byte));
    input.insert(input.end(), bytes.begin(), bytes.end());
  };
  const size_t n = packer.pack_chunk(chunk, packed);
  add(0x80, ByteView(packed).first(n));
  add(0x01, rest);
  add(0x40, {});
  return {input, {1, 0, 0, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t bytes = Scale * (input.byte() | size_t{input.byte()} << 8);
  Bytes memory(bytes + 64, 0xa5);
  const copy::Chunks cut(copy::range(0, bytes), 1, Largest);
  if (!cut.valid()) return 0;
  virt::PackedReads reads;
  reads.expect(Transfer, 9, memory.data(), cut);
  uint64_t arrived = 0;
  bool told = false, over = false;
  while (!input.empty() && !over) {
    const uint8_t what = input.byte();
    const ByteView sent = input.bytes(input.byte() | size_t{input.byte()} << 8);
    if (what & 0x40) {
      over = !reads.told({9, 0, 0, 0});
      told = true;
      continue;
    }
    const uint32_t number = what & 15;
    if (number >= cut.count() || sent.size() > cut.at(number).bytes) continue;  // the link refuses it
    std::ranges::copy(sent, memory.begin() + static_cast<long>(cut.at(number).offset));
    const auto arrival = reads.arrived(wire::read_notice(Transfer, number, what & 0x80), sent.size());
    if (!arrival.sound) return 0;
    ++arrived;
    over = arrival.over.has_value();
  }
  if (over && (arrived != cut.count() || !told)) std::abort();
  if (std::any_of(memory.end() - 64, memory.end(), [](uint8_t b) { return b != 0xa5; })) std::abort();
  return 0;
}
