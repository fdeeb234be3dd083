// libFuzzer: any bytes as the records of traced processes. The collector ends with a trace whose indices hold.
//
// Input: a stream of [type][function low][function high][ring][payload words][payload...]; ticks count up alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "tracer/collect/collector.h"

using namespace gt::tracer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static RingHeader owner;
  owner.pid = 1 << 30;  // no such process: its /proc cannot be read
  owner.tid = 7;
  Collector collector(1.0, 0);
  gt::ByteReader in({data, size});
  for (uint64_t ticks = 0; !in.at_end() && in.ok(); ++ticks) {
    RecordHeader header{};
    header.type = static_cast<RecordType>(in.u8() % 24);
    header.fn = static_cast<uint16_t>(in.u8());
    header.fn = static_cast<uint16_t>(header.fn | in.u8() << 8);
    header.ticks = ticks;
    const uint32_t ring = in.u8() % 4;
    const gt::ByteView payload = in.raw(std::min<uint64_t>(in.u8() * 8u, in.remaining()));
    header.bytes = static_cast<uint32_t>(sizeof header + payload.size());
    collector.take({header, payload, ring, &owner});
  }
  const gt::model::Trace trace = collector.finish();
  if (trace.stats.size() != trace.shapes.size()) std::abort();
  for (const auto& shape : trace.shapes) {
    for (const auto& arg : shape.args) {
      if (arg.cls != gt::model::NoIndex && arg.cls >= trace.classes.size()) std::abort();
    }
  }
  return 0;
}
