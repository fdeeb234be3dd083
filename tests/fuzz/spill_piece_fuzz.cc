// libFuzzer: any bytes as a piece of what waited for the collector. It gives records that lie within it, or is damaged.
#include <memory>

#include "tests/fuzz/seeds.h"
#include "tracer/collect/spill_piece.h"

using namespace gt;
using namespace gt::tracer;

std::vector<Bytes> fuzz_seeds() {
  RingHeader owner;
  owner.tid = 77;
  const auto counts = std::make_unique<CallCounts>();
  const uint64_t payload[] = {1, 2, 3};
  const ByteView bytes(reinterpret_cast<const uint8_t*>(payload), sizeof payload);
  PieceWriter writer;
  writer.add({{40, RecordType::Allocate, 3, 1000}, bytes, 2, &owner});
  for (int i = 0; i < 100; ++i) writer.add({{24, RecordType::Blocks, 0, 1001}, bytes, 2, &owner});
  writer.add({{96, RecordType::Repeat, 3, 1002}, bytes, 2, &owner, 7, 11});
  writer.ring_ended(2, owner, counts.get());
  Bytes piece, empty;
  const RingReader::Place places[] = {{1, 2, 3}, {}, {4, 5, 6}};
  writer.take(places, 103, piece);
  writer.take({}, 0, empty);
  return {piece, empty};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t seen = 0;  // every byte that is given is looked at
  PieceVisitor visitor;
  visitor.record = [&](const RecordView& r) {
    seen += static_cast<uint64_t>(r.owner->tid) + r.ring + r.first_call + r.calls;
    for (const uint8_t byte : r.payload) seen += byte;
  };
  visitor.ring_ended = [&](uint32_t, const RingHeader& header, const CallCounts* counts) {
    seen += header.base;
    if (counts) seen += counts->others.calls.load();
  };
  PieceReader reader;
  if (reader.open({data, size}).ok()) (void)reader.give(visitor);
  asm volatile("" : : "r"(seen));
  return 0;
}
