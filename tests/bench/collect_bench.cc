// What the collector takes for a call, from the ring to the folded stream: spool, order, decode, name, fold.
//
// The recorder's own encoder fills a ring as a program would; only the collector's part is timed. items_per_second is
// OpenCL calls (or malloc and free calls) a second on one core; the promise is 5 million for regular streams.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>

#include "tracer/collect/session.h"
#include "tracer/lib/recorder.h"
#include "tracer/lib/ring_writer.h"
#include "traces/api/encode.h"

namespace {

using namespace gt;
using namespace gt::tracer;
using api::FnId;

constexpr uint64_t RingBytes = 1 << 20, Batch = RingBytes / 2;

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

// malloc and free from a few places.
void blocks(uint64_t i) {
  for (uint64_t p = 0; p < 3; ++p) {
    const uint64_t site = 0x500000 + p * 64, pointer = 0x20000000 + p * 4096;
    record(RecordType::Allocate, 0x8000, ticks(), site, 100 + i % 2, pointer);
    record(RecordType::Release, 0x8004, ticks(), site + 16, pointer);
  }
}

void collect(benchmark::State& state, void (*make)(uint64_t)) {
  Session& s = session();
  uint64_t i = 0;
  int64_t calls = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const uint64_t begin = this_ring()->position;
    while (this_ring()->position - begin < Batch) make(i++), calls += CallsAnIteration;
    state.ResumeTiming();
    while (s.pump() != 0) {
    }
  }
  state.SetItemsProcessed(calls);
}

BENCHMARK_CAPTURE(collect, regular, iteration);
BENCHMARK_CAPTURE(collect, memory, blocks);
BENCHMARK_CAPTURE(collect, irregular, disorder);

}  // namespace

BENCHMARK_MAIN();
