// Whose memory transfers move, in traces made by hand.
#include "analyzer/transfers/transfer_sources.h"

#include <doctest/doctest.h>

#include "analyzer/analysis.h"
#include "analyzer/transfers/transfer_calls.h"
#include "tests/unit/sample_trace.h"
#include "traces/model/fold/run.h"

using namespace gt;
using namespace gt::testing;
using F = ArgForm;
using E = Effect;

namespace {

const auto MallocFn = static_cast<model::FnId>(api::AllocFn::Malloc);
const auto ReallocFn = static_cast<model::FnId>(api::AllocFn::Realloc);
const auto MapFn = fn(api::FnId::clEnqueueMapBuffer), UnmapFn = fn(api::FnId::clEnqueueUnmapMemObject);
const auto CreateFn = fn(api::FnId::clCreateBuffer), WriteFn = fn(api::FnId::clEnqueueWriteBuffer);

struct Maker : TraceBuilder {
  Maker() { trace.streams = {{0, false, {}, {}}, {0, true, {}, {}}}; }

  ShapeId moving(model::FnId f, Direction way, std::vector<Arg> args, uint64_t calls, uint64_t bytes) {
    const ShapeId s = shape(f, site(0x9000 + trace.shapes.size()), std::move(args));
    trace.shapes[s].moves = way;
    cost(s, calls, 1000, 100, bytes);
    return s;
  }
  std::vector<analyzer::TransferSource> sources() const {
    analyzer::CallSites sites;
    return analyzer::find_transfer_sources(trace, sites).list;
  }
  std::vector<analyzer::TransferCall> calls() const {
    analyzer::CallSites sites;
    return analyzer::find_transfer_calls(trace, analyzer::find_transfer_sources(trace, sites), sites);
  }
};

}  // namespace

TEST_CASE("a mapped buffer is told by the call that made it, wherever it is mapped") {
  Maker m;
  const ClassId buffer = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x100));
  const ClassId mapping = m.cls(ObjectKind::Mapping, MapFn, m.site(0x200));
  const ClassId target = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x300));
  m.moving(MapFn, Direction::DeviceToHost, {{1, F::Object, E::Use, buffer}, {ParamReturn, F::Object, E::Def, mapping}},
           2, 50);
  m.moving(UnmapFn, Direction::HostToDevice, {{1, F::Object, E::UseDef, buffer}, {2, F::Memory, E::Release, mapping}},
           2, 50);
  m.moving(WriteFn, Direction::HostToDevice, {{1, F::Object, E::UseDef, target}, {5, F::Memory, E::Use, mapping}}, 3,
           7);
  const auto sources = m.sources();
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].kind == ObjectKind::Mapping);
  CHECK(sources[0].site.offset == 0x100);
  CHECK(sources[0].call == "clCreateBuffer");
  CHECK_FALSE(sources[0].allocated());
  CHECK(sources[0].sums.h2d_bytes == 2 * 50 + 3 * 7);
  CHECK(sources[0].sums.d2h_bytes == 2 * 50);
}

TEST_CASE("host memory that a buffer uses in place is what its maps move") {
  Maker m;
  const ClassId data = m.cls(ObjectKind::Static, 0, NoIndex, m.blob("/opt/app/libdata.so"));
  const ClassId buffer = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x100));
  const ClassId mapping = m.cls(ObjectKind::Mapping, MapFn, m.site(0x200));
  m.moving(CreateFn, Direction::None, {{3, F::Memory, E::Use, data}, {ParamReturn, F::Object, E::Def, buffer}}, 4, 100);
  m.moving(MapFn, Direction::DeviceToHost,
           {{1, F::Object, E::Use, buffer},
            {ParamImplied, F::Memory, E::Use, data},
            {ParamReturn, F::Object, E::Def, mapping}},
           1, 50);
  const auto sources = m.sources();
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].name() == "static data of libdata.so");
  CHECK(sources[0].sums.d2h_bytes == 50);
  CHECK(sources[0].in_place_buffers == 4);
  CHECK(sources[0].in_place_bytes == 400);
}

TEST_CASE("a buffer made without host memory is none in place") {
  Maker m;
  const ClassId buffer = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x100));
  m.moving(CreateFn, Direction::None, {{3, F::Null}, {ParamReturn, F::Object, E::Def, buffer}}, 4, 0);
  CHECK(m.sources().empty());
}

TEST_CASE("memory that nobody is known to have made may be a small block, where those were only counted") {
  const auto remedy = [](uint64_t least, uint64_t most, bool counted) {
    Maker m;
    const ClassId memory = m.cls(ObjectKind::Unknown, 0, NoIndex);
    const ClassId buffer = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x100));
    for (const uint64_t bytes : {least, most})
      m.moving(WriteFn, Direction::HostToDevice, {{1, F::Object, E::UseDef, buffer}, {5, F::Memory, E::Use, memory}}, 3,
               bytes);
    if (counted) m.trace.facts.emplace_back("memory_detail.from", "4096");
    const auto sources = m.sources();
    REQUIRE(sources.size() == 1);
    CHECK(sources[0].name() == "memory of unknown origin");
    return sources[0].remedy();
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK_FALSE(has(remedy(100, 200, false), "--no-memory-detail"));
  const std::string small = remedy(100, 200, true);
  CHECK(has(small, "no block below 4096 bytes (gtrace run --no-memory-detail)"));
  CHECK_FALSE(has(small, "Copy it in pieces"));
  const std::string both = remedy(100, 8192, true);
  CHECK(has(both, "--no-memory-detail"));
  CHECK(has(both, "Copy it in pieces"));
  const std::string large = remedy(8192, 8192, true);
  CHECK_FALSE(has(large, "--no-memory-detail"));
  CHECK(has(large, "Copy it in pieces"));
}

TEST_CASE("what moves memory of two places is shared out") {
  Maker m;
  const auto migrate = fn(api::FnId::clEnqueueMigrateMemObjects);
  const ClassId a = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x100));
  const ClassId b = m.cls(ObjectKind::Buffer, CreateFn, m.site(0x200));
  m.moving(migrate, Direction::HostToDevice, {{2, F::Object, E::Use, a}, {2, F::Object, E::Use, b}}, 2, 1000);
  const auto sources = m.sources();
  REQUIRE(sources.size() == 2);
  for (const auto& s : sources) {
    CHECK(s.kind == ObjectKind::Buffer);
    CHECK(s.sums.h2d_bytes == 1000);
    CHECK(s.sums.transfers == 2);
    CHECK(s.sums.sizes.max == 500);
  }
  CHECK(m.calls().size() == 2);
}

TEST_CASE("realloc in a loop grows from the first block and from itself") {
  Maker m;
  const SiteId at = m.site(0x20);
  const ClassId first = m.cls(ObjectKind::Segment, MallocFn, m.site(0x10));
  const ClassId grown = m.cls(ObjectKind::Segment, ReallocFn, at);
  for (const ClassId old : {first, grown}) {
    m.shape(ReallocFn, at, {{0, F::Memory, E::Release, old}, {1, F::Int}, {ParamReturn, F::Object, E::Def, grown}});
  }
  m.moving(WriteFn, Direction::HostToDevice, {{5, F::Memory, E::Use, grown}}, 1, 10);
  const auto sources = m.sources();
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].call == "realloc");
  REQUIRE(sources[0].grown_from.size() == 1);
  CHECK(sources[0].grown_from[0].call == "malloc");
  CHECK(sources[0].grown_from[0].site.offset == 0x10);
}

TEST_CASE("a transfer names its segment, and that its first version") {
  const Trace trace = paper_loop(50);
  analyzer::CallSites sites;
  const auto sources = analyzer::find_transfer_sources(trace, sites);
  const auto calls = analyzer::find_transfer_calls(trace, sources, sites);
  REQUIRE(calls.size() == 2);
  for (const auto& c : calls) {
    CHECK(sources.list[c.source].site.offset == 0x1100);
    REQUIRE(c.segments.size() == 1);
    CHECK(c.segments[0].name == "s0");
    CHECK(c.segments[0].first_version == "s0.1");  // the read in the loop makes later ones
  }
  CHECK(calls[0].direction == Direction::DeviceToHost);
  CHECK(calls[0].sums.time_ns == 50 * 5000);
}

TEST_CASE("segments of calls that did not fold are found as well") {
  Maker m;
  const SiteId at = m.site(0x10);
  const ClassId memory = m.cls(ObjectKind::Segment, MallocFn, at);
  const ShapeId made = m.shape(MallocFn, at, {{0, F::Int}, {ParamReturn, F::Object, E::Def, memory}});
  const ShapeId write = m.moving(WriteFn, Direction::HostToDevice, {{5, F::Memory, E::Use, memory}}, 3, 10);
  RunBuilder writes, allocations;
  for (const int64_t slot : {0, 1, 4}) {
    const int64_t place[] = {slot, 0}, block[] = {64, slot};
    writes.append(write, place);
    allocations.append(made, block);
  }
  m.trace.streams[0].nodes.push_back(writes.node());
  m.trace.streams[1].nodes.push_back(allocations.node());
  const auto calls = m.calls();
  REQUIRE(calls.size() == 1);
  REQUIRE(calls[0].segments.size() == 3);
  for (const auto& s : calls[0].segments) CHECK(s.first_version == s.name + ".1");
}
