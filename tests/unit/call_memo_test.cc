// Calls that the collector knows already: named as if it had never seen them.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "tracer/collect/collector.h"
#include "traces/api/alloc_fn.h"
#include "traces/api/encode.h"
#include "traces/model/fold/fold.h"

using namespace gt;
using namespace gt::tracer;
using api::FnId;

namespace {

// Two collectors are fed with the same calls. Before each record the second gets a long string that no call asks for,
// so that it keeps no calls.
class Feeds {
 public:
  Feeds() {
    owner_.pid = 1 << 30;  // no such process: its /proc cannot be read
    owner_.tid = 7;
  }
  template <FnId F, class R, class... A>
  void call(uint64_t site, R result, A... args) {
    api::VectorWriter in, out;
    in.word(site);
    in.word(StackPointer);
    api::encode_inputs<F, api::Contents::None>(in, args...);
    api::encode_outputs<F, api::Contents::None>(out, result, args...);
    record(RecordType::Enter, api::number(F), in.view());
    record(RecordType::Exit, api::number(F), out.view());
  }
  void memory(RecordType type, api::AllocFn fn, std::vector<uint64_t> words) {
    Bytes payload(words.size() * 8);
    std::memcpy(payload.data(), words.data(), payload.size());
    record(type, static_cast<uint16_t>(fn), payload);
  }
  model::Trace with_memos() { return with_.finish(); }
  model::Trace without_memos() { return without_.finish(); }

 private:
  static constexpr uint64_t StackPointer = 0x7ffc00000000;

  void record(RecordType type, uint16_t fn, const Bytes& payload) {
    const uint64_t chunk[] = {1, 0};  // the last of its string, of no bytes
    Bytes unasked(sizeof chunk);
    std::memcpy(unasked.data(), chunk, sizeof chunk);
    ++now_;
    give(without_, RecordType::Chunk, 0, unasked);
    give(without_, type, fn, payload);
    give(with_, type, fn, payload);
  }
  void give(Collector& to, RecordType type, uint16_t fn, const Bytes& payload) {
    const RecordHeader header{static_cast<uint32_t>(sizeof(RecordHeader) + payload.size()), type, fn, now_};
    to.take({header, payload, 0, &owner_});
  }

  RingHeader owner_;
  Collector with_{1.0, 0}, without_{1.0, 0};
  uint64_t now_ = 0;
};

template <class T>
T handle(uint64_t number) {
  return reinterpret_cast<T>(0x10000000 + number * 64);
}

void* const NoMemory = nullptr;
cl_int* const NoCode = nullptr;

struct Call {
  model::ShapeId shape;
  std::vector<int64_t> values;
  bool operator==(const Call&) const = default;
};
std::vector<std::vector<Call>> calls_of(const model::Trace& trace) {
  std::vector<int> widths;
  for (const model::Shape& s : trace.shapes) widths.push_back(s.values());
  std::vector<std::vector<Call>> out;
  for (const model::Stream& s : trace.streams) {
    auto& calls = out.emplace_back();
    REQUIRE(expand(s.nodes, widths, [&](model::ShapeId shape, std::span<const int64_t> values) {
      calls.push_back({shape, {values.begin(), values.end()}});
      return true;
    }));
  }
  return out;
}

// A program with four handles of buffers and four addresses of memory, which it gives back and gets again: the same
// bytes are given to its calls over and over, and mean other objects, or none.
class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  void step(Feeds& feeds) {
    const auto i = draw(4);
    const auto buffer = handle<cl_mem>(20 + i);
    const uint64_t address = 0x20000000 + i * 0x1000;
    const auto* pointer = reinterpret_cast<const void*>(address + draw(2) * 8);
    const cl_event* no_wait = nullptr;
    cl_event* no_event = nullptr;
    const size_t global = 64;
    switch (draw(12)) {
      case 0:
        if (!made_[i])
          feeds.call<FnId::clCreateBuffer>(1 + draw(2), buffer, Context, cl_mem_flags(0), size_t(64), NoMemory, NoCode);
        made_[i] = true;
        return;
      case 1:
        if (made_[i] && draw(3) == 0) feeds.call<FnId::clReleaseMemObject>(3, cl_int(0), buffer), made_[i] = false;
        return;
      case 2:
        if (!allocated_[i]) feeds.memory(RecordType::Allocate, api::AllocFn::Malloc, {0x500 + draw(2), 4096, address});
        allocated_[i] = true;
        return;
      case 3:
        if (allocated_[i] && draw(3) == 0)
          feeds.memory(RecordType::Release, api::AllocFn::Free, {0x600, address}), allocated_[i] = false;
        return;
      case 4:
      case 5:
        return feeds.call<FnId::clSetKernelArg>(10, cl_int(0), Kernel, cl_uint(0), sizeof buffer,
                                                static_cast<const void*>(&buffer));
      case 6: {
        const auto number = static_cast<cl_int>(draw(3));
        return feeds.call<FnId::clSetKernelArg>(11, cl_int(draw(5) ? 0 : CL_INVALID_ARG_SIZE), Kernel, cl_uint(draw(2)),
                                                sizeof number, static_cast<const void*>(&number));
      }
      case 7:
      case 8:
        return feeds.call<FnId::clEnqueueWriteBuffer>(12, cl_int(0), Queue, buffer, cl_bool(1), size_t(0), size_t(64),
                                                      pointer, cl_uint(0), no_wait, no_event);
      case 9:
        return feeds.call<FnId::clFlush>(13, cl_int(0), Queue);
      case 10:
        return feeds.call<FnId::clFinish>(13, cl_int(0), Queue);  // from the same place, as by a wrapper
      default:
        return feeds.call<FnId::clEnqueueNDRangeKernel>(14, cl_int(0), Queue, Kernel, cl_uint(1),
                                                        static_cast<const size_t*>(nullptr), &global,
                                                        static_cast<const size_t*>(nullptr), cl_uint(0), no_wait,
                                                        no_event);
    }
  }

 private:
  static inline const auto Context = handle<cl_context>(1);
  static inline const auto Queue = handle<cl_command_queue>(2);
  static inline const auto Kernel = handle<cl_kernel>(3);
  uint64_t draw(uint64_t below) { return random_() % below; }
  std::mt19937_64 random_;
  bool made_[4] = {}, allocated_[4] = {};
};

}  // namespace

TEST_CASE("what is known of a call is used only while it holds") {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    Feeds feeds;
    Program program(seed);
    for (int i = 0; i < 3000; ++i) program.step(feeds);
    const model::Trace with = feeds.with_memos(), without = feeds.without_memos();
    REQUIRE(with.fact("lost.undecodable_records") == "0");
    CHECK(with.shapes == without.shapes);
    CHECK(with.classes == without.classes);
    REQUIRE(with.stats.size() == without.stats.size());
    for (size_t i = 0; i < with.stats.size(); ++i) {
      CHECK(with.stats[i].calls == without.stats[i].calls);
      CHECK(with.stats[i].failed == without.stats[i].failed);
      CHECK(with.stats[i].bytes.sum == without.stats[i].bytes.sum);
    }
    CHECK(calls_of(with) == calls_of(without));
  }
}

TEST_CASE("a call that is made again and again is named each time") {
  Feeds feeds;
  const auto kernel = handle<cl_kernel>(3);
  const auto a = handle<cl_mem>(20), b = handle<cl_mem>(21);
  feeds.call<FnId::clCreateBuffer>(1, a, handle<cl_context>(1), cl_mem_flags(0), size_t(64), NoMemory, NoCode);
  feeds.call<FnId::clCreateBuffer>(1, b, handle<cl_context>(1), cl_mem_flags(0), size_t(64), NoMemory, NoCode);
  for (int i = 0; i < 100; ++i) {
    const cl_mem given = i % 2 ? a : b;
    feeds.call<FnId::clSetKernelArg>(2, cl_int(0), kernel, cl_uint(0), sizeof given, static_cast<const void*>(&given));
  }
  const std::vector<std::vector<Call>> calls = calls_of(feeds.with_memos());
  REQUIRE(calls.size() == 1);
  REQUIRE(calls[0].size() == 102);
  std::vector<Call> set(calls[0].begin() + 2, calls[0].end());
  for (size_t i = 2; i < set.size(); ++i) CHECK(set[i] == set[i - 2]);
  CHECK(set[0] != set[1]);
}
