// What memory costs that is kept in step by page protection (optimizer-rt/client/pages): a launch, a dirty page, a
// touch; and what share of a link's bandwidth a program gets that reads on and on.
//
//   pages_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Reads come over a link that takes 100 us for a round trip and 1.25 GB/s (10 Gb/s).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "optimizer-rt/client/pages/tracked_range.h"

namespace gt::virt {
namespace {

constexpr size_t Page = TrackedRange::Page;
constexpr double RoundTripNs = 100e3, BytesPerNs = 1.25;

std::unique_ptr<TrackedRange> make(size_t bytes, PageFetch fetch) {
  RangeSetup setup;
  setup.bytes = bytes;
  setup.fetch = std::move(fetch);
  auto made = TrackedRange::make(std::move(setup));
  if (!made.ok()) std::abort();
  return std::move(*made);
}
bool at_once(size_t, void*, size_t) { return true; }

void write_pages(TrackedRange& range, size_t pages, size_t step) {
  for (size_t i = 0; i < pages; ++i) *reinterpret_cast<volatile uint8_t*>(range.program_view() + i * step * Page) = 1;
}
size_t send(TrackedRange& range) {
  return range.take_dirty([](size_t, size_t, const void* from) { benchmark::DoNotOptimize(from); });
}

// A launch that may write a range that nobody touched since the last one.
void BM_launch_untouched(benchmark::State& state) {
  const auto range = make(static_cast<size_t>(state.range(0)), &at_once);
  range->invalidate();
  for (auto _ : state) {
    benchmark::DoNotOptimize(send(*range));
    range->invalidate();
  }
}
BENCHMARK(BM_launch_untouched)->Arg(1 << 20)->Arg(int64_t{64} << 30);

// A launch that only reads a range of which some pages are fresh.
void BM_launch_clean(benchmark::State& state) {
  const auto range = make(size_t{1} << 30, &at_once);
  write_pages(*range, 1000, 1);
  send(*range);
  for (auto _ : state) benchmark::DoNotOptimize(send(*range));
}
BENCHMARK(BM_launch_clean);

// Pages that are written before each launch, side by side or one in seven: what writing alone takes is subtracted.
void BM_launch_dirty(benchmark::State& state) {
  const auto pages = static_cast<size_t>(state.range(0)), step = static_cast<size_t>(state.range(1));
  const auto range = make(pages * step * Page, &at_once);
  write_pages(*range, pages * step, 1);
  send(*range);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) write_pages(*range, pages, step);
  const double alone = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 100;
  const auto at_first = std::chrono::steady_clock::now();
  for (auto _ : state) {
    write_pages(*range, pages, step);
    benchmark::DoNotOptimize(send(*range));
  }
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - at_first).count();
  state.counters["ns_a_page"] =
      (all / static_cast<double>(state.iterations()) - alone) * 1e9 / static_cast<double>(pages);
}
BENCHMARK(BM_launch_dirty)->Args({1, 1})->Args({16, 1})->Args({256, 1})->Args({4096, 1})->Args({256, 7});

// The share of taking alone: every page is dirty, no fault.
void BM_take_dirty(benchmark::State& state) {
  const auto pages = static_cast<size_t>(state.range(0));
  const auto range = make(pages * Page, &at_once);
  write_pages(*range, pages, 1);
  send(*range);
  for (auto _ : state) {
    state.PauseTiming();
    range->bring(0, range->bytes(), TrackedRange::For::Writing);
    write_pages(*range, pages, 1);
    state.ResumeTiming();
    benchmark::DoNotOptimize(send(*range));
  }
  state.counters["ns_a_page"] = benchmark::Counter(
      static_cast<double>(pages) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_take_dirty)->Arg(1)->Arg(256)->Arg(16384);

// A page that the device wrote, and no link: the handler, the thread that fetches, the way back.
void BM_touch(benchmark::State& state) {
  const auto range = make(64 * Page, &at_once);
  for (auto _ : state) {
    range->invalidate();
    [[maybe_unused]] const uint8_t byte = *reinterpret_cast<volatile uint8_t*>(range->program_view());
  }
  state.counters["fetches"] = static_cast<double>(range->counts().fetches) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_touch);

// A program that adds up what a device wrote, beside what the link could do.
void BM_stream(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  double free_at = 0;  // of the link's, ns
  const auto now = [] {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const auto range = make(bytes, [&](size_t, void* into, size_t n) {
    free_at = std::max(now(), free_at) + static_cast<double>(n) / BytesPerNs;
    std::memset(into, 1, n);
    const double done = free_at + RoundTripNs;
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(std::max(0.0, done - now()))));
    return true;
  });
  uint64_t sum = 0;
  double seconds = 0;
  for (auto _ : state) {
    range->invalidate();
    const double begin = now();
    const auto* const words = reinterpret_cast<const volatile uint64_t*>(range->program_view());
    for (size_t i = 0; i < bytes / sizeof *words; i += 8) sum += words[i];
    seconds += (now() - begin) * 1e-9;
  }
  benchmark::DoNotOptimize(sum);
  const double moved = static_cast<double>(bytes) * static_cast<double>(state.iterations());
  state.counters["of_bandwidth"] = moved / seconds / (BytesPerNs * 1e9);
  state.counters["round_trips"] =
      static_cast<double>(range->counts().fetches) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_stream)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20)->Arg(64 << 20)->Arg(256 << 20);

}  // namespace
}  // namespace gt::virt

BENCHMARK_MAIN();
