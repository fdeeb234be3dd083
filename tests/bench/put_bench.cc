// What a one-sided put and get inside a node add to a plain copy (DART-MPI: 5 ns), by size, in one process: both ends
// of a shared-memory link are here.
//
//   put_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Blocks lie one after the other in 256 KiB, so that small ones are in the first cache, as in the copy beside them.
#define DOCTEST_CONFIG_IMPLEMENT  // link_pairs.h checks what it makes
#include <benchmark/benchmark.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/unit/link/link_pairs.h"

namespace gt::wire {
namespace {

constexpr size_t Room = size_t{256} << 10;

class Sink : public LinkHandler {
 public:
  void on_frame(ByteView) override {}
  void on_put(Notice, size_t) override {}
  void on_closed(const Status&) override {}
};

// One for all: a session takes milliseconds to make.
struct Ends {
  Ends() {
    for (const LinkKind& kind : link_kinds())
      if (std::strcmp(kind.scheme, "shm") == 0 && kind.delay_us < 0) pair = make_pair(kind);
    if (!pair.a || !pair.a->start(sink).ok() || !pair.b->start(sink).ok()) std::abort();
    void* base = nullptr;
    const Result<SegmentId> made = pair.b->allocate(Room, &base);
    if (!made) std::abort();
    segment = *made;
    while (!pair.a->view({segment, 0}, Room)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Sink sink;
  LinkPair pair;
  SegmentId segment = 0;
};

Ends& ends() {
  static Ends one;
  return one;
}

Bytes here(Room, 1), there(Room, 2);

template <class Copy>
void each(benchmark::State& state, Copy copy) {
  const auto bytes = static_cast<size_t>(state.range(0));
  size_t at = 0;
  for (auto _ : state) {
    copy(at, bytes);
    at = at + 2 * bytes <= Room ? at + bytes : 0;
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}

// `to`: where a put lands, so that both copies touch the same kind of memory.
void plain(benchmark::State& state) {
  Ends& e = ends();
  auto* const to = static_cast<uint8_t*>(e.pair.a->view({e.segment, 0}, Room));
  each(state, [&](size_t at, size_t bytes) {
    std::memcpy(to + at, here.data() + at, bytes);
    benchmark::ClobberMemory();
  });
}
void put(benchmark::State& state) {
  Ends& e = ends();
  Link& link = *e.pair.a;
  each(state, [&](size_t at, size_t bytes) { link.put(here.data() + at, {e.segment, at}, bytes); });
}
void get(benchmark::State& state) {
  Ends& e = ends();
  Link& link = *e.pair.a;
  each(state, [&](size_t at, size_t bytes) { link.get(there.data() + at, {e.segment, at}, bytes); });
}

BENCHMARK(plain)->RangeMultiplier(8)->Range(8, 32768);
BENCHMARK(put)->RangeMultiplier(8)->Range(8, 32768);
BENCHMARK(get)->RangeMultiplier(8)->Range(8, 32768);

}  // namespace
}  // namespace gt::wire

int main(int argc, char** argv) {
  doctest::Context checks;
  checks.setAsDefaultForAssertsOutOfTestCases();
  checks.setAssertHandler([](const doctest::AssertData& a) {
    if (a.m_failed) std::abort();
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
