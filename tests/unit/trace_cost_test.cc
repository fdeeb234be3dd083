// What gtrace run says of a trace that takes much, and when it says nothing.
#include <doctest/doctest.h>

#include "tracer/gtrace/record/trace_cost.h"
#include "traces/model/folded/memory_detail.h"

using namespace gt;
using namespace gt::tracer;

namespace {

constexpr uint64_t Large = LargeTrace + 1;

model::Trace trace_of(size_t memory, size_t opencl, size_t timeline = 0) {
  model::Trace trace;
  for (const size_t bytes : {memory, opencl}) {
    model::Node run;
    run.kind = model::Node::Kind::Run;
    run.run.resize(bytes);
    trace.streams.push_back({0, trace.streams.empty(), {run}, {}});
  }
  trace.streams[1].timeline.resize(timeline);
  return trace;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("small traces that were taken in time are nothing to talk about") {
  CHECK(trace_cost(trace_of(1000, 10), "t.db", LargeTrace, false).empty());
}

TEST_CASE("a large trace: how much, of what, and what to do") {
  const std::string memory = trace_cost(trace_of(9'000'000, 1'000'000), "t.db", 400 << 20, false);
  CHECK(has(memory, "t.db takes 400.0 MiB, 90.0% of it memory calls"));
  CHECK(has(memory, "--no-memory-detail, --max-size 32M"));
  CHECK(memory.find('\n') == std::string::npos);
  const std::string opencl = trace_cost(trace_of(1000, 1'000'000), "t.db", Large, false);
  CHECK(has(opencl, "OpenCL calls without a pattern"));
  CHECK_FALSE(has(opencl, "memory"));
  const std::string times = trace_cost(trace_of(1000, 1000, 100'000), "t.db", Large, false);
  CHECK(has(times, "the times of --timeline"));
  CHECK(has(times, "no --timeline, --max-size"));
}

TEST_CASE("what was asked for already is not advised") {
  model::Trace detail = trace_of(9'000'000, 1000);
  detail.facts = {{"memory_detail.from", "4096"}};
  CHECK(has(trace_cost(detail, "t.db", Large, false), "a larger --detail-from"));
  model::Trace bounded = trace_of(9'000'000, 1000);
  bounded.facts = {{"max_size", "64000000"}};
  CHECK(trace_cost(bounded, "t.db", Large, false).empty());
}

TEST_CASE("records that took longer than the program, in a small trace") {
  const std::string late = trace_cost(trace_of(1'000'000, 10), "t.db", 2 << 20, true);
  CHECK(late == "fewer records to take next time: --no-memory-detail");
  CHECK(trace_cost(trace_of(10, 1'000'000), "t.db", 2 << 20, true).empty());  // nothing would help
}
