// Reads that come compressed: whatever comes first, the bytes or the word that they are there.
#include "optimizer-rt/client/session/packed_reads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "transport/chunks/chunk_packer.h"

namespace gt::virt {
namespace {

constexpr uint32_t Transfer = 5;
constexpr wire::ObjectId Event = 77;
constexpr size_t ChunkBytes = size_t{1} << 20, Size = 3 * ChunkBytes + 1000;
constexpr wire::Completion Ended{Event, 0, 10, 20}, Failed{Event, -5, 0, 0};

// A link of no distance: puts chunks to where they belong and says so.
struct Reading {
  Reading() : chunks(copy::range(0, Size), 1, ChunkBytes) {
    for (size_t i = 0; i < Size; ++i) content[i] = static_cast<uint8_t>(i / 300);
    packer.open(chunks::Packing::always(1));
    reads.expect(Transfer, Event, memory.data(), chunks);
  }
  // `by`: the notice arrives in that thread.
  PackedReads::Arrival put(uint32_t number, bool pack, std::thread* by = nullptr) {
    const copy::Chunks::Chunk chunk = chunks.at(number);
    const ByteView bytes = ByteView(content).subspan(chunk.offset, chunk.bytes);
    Bytes packed;
    const size_t n = pack ? packer.pack_chunk(bytes, packed) : 0;
    const ByteView sent = n ? ByteView(packed).first(n) : bytes;
    std::ranges::copy(sent, memory.begin() + static_cast<long>(chunk.offset));
    const auto say = [this, number, n, size = sent.size()] {
      return reads.arrived(wire::read_notice(Transfer, number, n != 0), size);
    };
    if (!by) return say();
    *by = std::thread([say] { (void)say(); });
    return {};
  }
  bool is_right() const { return memory == content; }

  copy::Chunks chunks;
  Bytes content = Bytes(Size), memory = Bytes(Size);
  chunks::ChunkPacker packer;
  PackedReads reads;
};

TEST_CASE("the event goes on with the last chunk, or with the word that comes after it") {
  for (uint32_t told_after = 0; told_after <= 4; ++told_after) {
    Reading r;
    for (uint32_t i = 0; i < 4; ++i) {
      if (i == told_after) CHECK(r.reads.told(Ended));
      const PackedReads::Arrival arrival = r.put(i, i != 1);
      CHECK(arrival.sound);
      CHECK(arrival.over.has_value() == (i == 3 && told_after < 4));
      if (arrival.over) CHECK(arrival.over->end_ns == Ended.end_ns);
    }
    if (told_after == 4) CHECK_FALSE(r.reads.told(Ended));
    CHECK(r.is_right());
    CHECK_FALSE(r.reads.told(Ended));  // it is forgotten
  }
}

TEST_CASE("of other events, and of reads that failed, nothing is held and nothing written") {
  Reading r;
  CHECK_FALSE(r.reads.told({Event + 1, 0, 0, 0}));
  CHECK(r.put(0, true).sound);
  CHECK_FALSE(r.reads.told(Failed));
  const Bytes before = r.memory;
  CHECK(r.reads.arrived(wire::read_notice(Transfer, 1, true), 100).sound);
  CHECK(r.memory == before);
  Reading other;
  other.reads.forget(Event);
  CHECK_FALSE(other.reads.told(Ended));
  Reading closed;
  closed.reads.close();
  const Bytes nothing = closed.memory;
  CHECK(closed.reads.arrived(wire::read_notice(Transfer, 0, true), 100).sound);
  CHECK(closed.memory == nothing);
}

TEST_CASE("what an executor must not send") {
  const auto refused = [](uint32_t number, bool packed, uint64_t bytes) {
    Reading r;
    return !r.reads.arrived(wire::read_notice(Transfer, number, packed), bytes).sound;
  };
  CHECK(refused(1, false, ChunkBytes));
  CHECK(refused(4, false, ChunkBytes));
  CHECK(refused(0, false, ChunkBytes - 1));
  CHECK(refused(0, false, 0));
  CHECK(refused(0, true, ChunkBytes));
  CHECK(refused(0, true, ChunkBytes + 1));
  CHECK(refused(0, true, 0));
  CHECK(refused(0, true, 1000));  // zeros: four pieces as they are, that are not there
  Reading twice;
  CHECK(twice.put(0, true).sound);
  CHECK_FALSE(twice.put(0, true).sound);
}

TEST_CASE("a failure that is told while a chunk is unpacked waits for it") {
  for (int i = 0; i < 30; ++i) {
    Reading r;
    std::thread link;
    (void)r.put(0, true, &link);
    std::this_thread::sleep_for(std::chrono::microseconds(30 * i));
    CHECK_FALSE(r.reads.told(Failed));
    const Bytes before = r.memory;
    link.join();
    CHECK(before == r.memory);
  }
}

}  // namespace
}  // namespace gt::virt
