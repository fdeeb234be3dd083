// What the collector takes for a call, from the ring to the folded stream: spool, order, decode, name, fold.
//
// The recorder's own encoder fills a ring as a program would; only the collector's part is timed. items_per_second is
// OpenCL calls (or malloc and free calls) a second on one core; the promise is 5 million OpenCL calls of regular
// streams, 20 million memory calls of regular ones and 10 million of irregular ones. The collector remembers what it
// has folded: for numbers that count, run one row a process (--benchmark_filter).
//
// With --keep FILE APP ARGS... it keeps the records of a program instead, with --records FILE it takes such records
// through the collector (kept_records.h).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include "tests/bench/kept_records.h"
#include "tests/bench/memory_streams.h"
#include "tracer/collect/session.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/ring_writer.h"
#include "traces/api/encode.h"
#include "traces/base/command.h"

namespace {

using namespace gt;
using namespace gt::tracer;
using api::FnId;

constexpr uint64_t RingBytes = 1 << 20, Batch = RingBytes / 2;
constexpr int64_t MostCalls = 1 << 18;  // of a batch: what takes next to no room must end, too

Session& session() {
  static const std::unique_ptr<Session> one = [] {
    SpoolReader::Options options;
    options.ring_bytes = RingBytes;
    options.ring_count = 4;
    Result<SpoolReader> spool = SpoolReader::create(options);
    if (!spool) std::abort();
    setenv(SpoolVariable, spool->path().c_str(), 1);
    start_recording();
    return std::make_unique<Session>(std::move(*spool));
  }();
  return *one;
}

template <class Encode>
void write(RecordType type, FnId fn, Encode encode) {
  tracer::SizeWriter size;
  encode(size);
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader)) + size.size();
  RingWriter out(reserve(*this_ring(), type, api::number(fn), bytes, ticks()));
  encode(out);
  commit(*this_ring(), bytes);
}

// One call of `F` from the code at `site`, that returns `result`.
template <FnId F, class R, class... A>
void call(uint64_t site, R result, A... args) {
  write(RecordType::Enter, F, [&](auto& out) {
    out.word(0x400000 + site * 16);
    out.word(0x7ffc00000000);
    api::encode_inputs<F, api::Contents::None>(out, args...);
  });
  write(RecordType::Exit, F, [&](auto& out) { api::encode_outputs<F, api::Contents::None>(out, result, args...); });
}

template <class T>
T handle(uint64_t number) {
  return reinterpret_cast<T>(0x10000000 + number * 64);
}

// The loop of an ordinary program: three arguments, write, launch, read.
void iteration(uint64_t i) {
  const auto queue = handle<cl_command_queue>(1);
  const auto kernel = handle<cl_kernel>(2);
  const auto a = handle<cl_mem>(3), b = handle<cl_mem>(4 + i % 2);
  const auto n = static_cast<cl_int>(i);
  const size_t global = 1024, local = 64;
  static char memory[8192];
  call<FnId::clSetKernelArg>(1, cl_int(0), kernel, cl_uint(0), sizeof a, static_cast<const void*>(&a));
  call<FnId::clSetKernelArg>(2, cl_int(0), kernel, cl_uint(1), sizeof b, static_cast<const void*>(&b));
  call<FnId::clSetKernelArg>(3, cl_int(0), kernel, cl_uint(2), sizeof n, static_cast<const void*>(&n));
  const cl_event* no_wait = nullptr;
  cl_event* no_event = nullptr;
  call<FnId::clEnqueueWriteBuffer>(4, cl_int(0), queue, a, cl_bool(1), size_t(0), size_t(4096),
                                   static_cast<const void*>(memory), cl_uint(0), no_wait, no_event);
  call<FnId::clEnqueueNDRangeKernel>(5, cl_int(0), queue, kernel, cl_uint(1), static_cast<const size_t*>(nullptr),
                                     &global, &local, cl_uint(0), no_wait, no_event);
  call<FnId::clEnqueueReadBuffer>(6, cl_int(0), queue, b, cl_bool(1), size_t(0), size_t(4096),
                                  static_cast<void*>(memory), cl_uint(0), no_wait, no_event);
}
constexpr int64_t CallsAnIteration = 6;

// Calls whose order, places and numbers are all random.
void disorder(uint64_t) {
  static std::mt19937_64 random(1);
  const auto kernel = handle<cl_kernel>(2);
  for (int64_t i = 0; i < CallsAnIteration; ++i) {
    const auto n = static_cast<cl_int>(random() % 1000);
    call<FnId::clSetKernelArg>(100 + random() % 50, cl_int(0), kernel, cl_uint(random() % 5), sizeof n,
                               static_cast<const void*>(&n));
  }
}

template <void (*Make)(uint64_t)>
int64_t calls_of(uint64_t i) {
  Make(i);
  return CallsAnIteration;
}

template <void (*Make)(memory_streams::Heap&, uint64_t)>
int64_t memory_calls_of(uint64_t i) {
  static memory_streams::Heap heap;
  const int64_t before = heap.calls();
  Make(heap, i);
  return heap.calls() - before;
}

// `make` records some calls and gives their number.
void collect(benchmark::State& state, int64_t (*make)(uint64_t)) {
  Session& s = session();
  uint64_t i = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const uint64_t begin = this_ring()->position;
    const int64_t most = calls + MostCalls;
    while (this_ring()->position - begin < Batch && calls < most) calls += make(i++);
    state.ResumeTiming();
    while (s.pump() != 0) {
    }
  }
  state.SetItemsProcessed(calls);
}

BENCHMARK_CAPTURE(collect, regular, calls_of<iteration>);
BENCHMARK_CAPTURE(collect, memory, memory_calls_of<memory_streams::blocks>);
BENCHMARK_CAPTURE(collect, memory_rows, memory_calls_of<memory_streams::rows>);
BENCHMARK_CAPTURE(collect, memory_random, memory_calls_of<memory_streams::random_sizes>);
BENCHMARK_CAPTURE(collect, memory_lists, memory_calls_of<memory_streams::lists>);
BENCHMARK_CAPTURE(collect, memory_scripts, memory_calls_of<memory_streams::scripts>);
BENCHMARK_CAPTURE(collect, irregular, calls_of<disorder>);

int usage() {
  std::fputs("collect_bench [--benchmark_...] | --keep FILE [--] APP ARGS... | --records FILE\n", stderr);
  return ExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "--records") {
    if (argc != 3) return usage();
    const Status measured = bench::measure_records(argv[2]);
    return measured.ok() ? ExitOk : fail("collect_bench", measured);
  }
  if (what == "--keep") {
    std::vector<std::string> command(argv + std::min(argc, 3), argv + argc);
    if (!command.empty() && command[0] == "--") command.erase(command.begin());
    if (command.empty()) return usage();
    const Result<int> status = bench::keep_records(argv[2], command);
    return status.ok() ? *status : fail("collect_bench", status.status());
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return usage();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return ExitOk;
}
