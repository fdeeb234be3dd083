// Every rule on programs that have its problem, and on programs that nearly have it.
#include "analyzer/finding.h"

#include <doctest/doctest.h>

#include "analyzer/saving.h"
#include "tests/unit/rule_trace.h"

using namespace gt;
using namespace gt::testing;
using analyzer::Finding;

namespace {

constexpr int64_t MiB = 1 << 20;
constexpr int Times = 100;

analyzer::FoundAll found_in(const Trace& trace, const Platform* platform = nullptr) {
  analyzer::CallSites sites;
  const auto ratio = analyzer::find_dispatch_ratio(trace, 0.1);
  const auto sources = analyzer::find_transfer_sources(trace, sites).list;
  auto found = analyzer::find_all(trace, ratio, sources, recorded_effects(trace), platform, sites);
  // Every program here sends from ordinary memory: that rule has tests of its own (analyzer_test.cc).
  std::erase_if(found.findings, [](const Finding& f) { return f.rule == "pageable-transfers"; });
  return found;
}

// The only finding of a program; it must be of this rule.
Finding only(const Trace& trace, const std::string& rule) {
  const auto found = found_in(trace);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].rule == rule);
  CHECK_FALSE(found.findings[0].advice.empty());
  CHECK_FALSE(found.findings[0].basis.empty());
  return found.findings[0];
}

void check_none(const Trace& trace) {
  for (const Finding& f : found_in(trace).findings) FAIL_CHECK(f.rule << ": " << f.evidence);
}

double seconds(const Finding& f) { return f.saving_s.value_or(-1); }
const auto about = [](double s) { return doctest::Approx(s).epsilon(0.05); };

// Host memory, a buffer and a kernel that only reads it: what most programs here begin with.
struct Program : RuleTrace {
  Object host, b, k;
  Program() {
    host = allocate(8 * MiB);
    at_place(0x2000);
    b = buffer(8 * MiB);
    at_place(0x3000);
    k = kernel();
    at_place(0x4000);
  }
  void use() { launch(k, {{b, Effect::Use}}); }
};

}  // namespace

// --- repeated-sends ---

TEST_CASE("repeated-sends: the same bytes to a buffer that has them") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "repeated-sends")) == about(0.099));
}

TEST_CASE("repeated-sends: two buffers in turn") {
  Program p;
  p.at_place(0x5000);
  const Object other = p.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(i % 2 ? p.b : other, p.host, MiB, {.content = i % 2});
    p.launch(p.k, {{i % 2 ? p.b : other, Effect::Use}});
  }
  const auto found = found_in(p.finish_trace()).findings;
  double all = 0;
  for (const Finding& f : found) {
    CHECK(f.rule == "repeated-sends");
    all += seconds(f);
  }
  CHECK(all == about(0.098));
}

TEST_CASE("repeated-sends: to a buffer that is made anew each time") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB);
    p.write(b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{b, Effect::Use}});
    p.release(b);
  }
  const Finding f = only(p.finish_trace(), "repeated-sends");
  CHECK(seconds(f) == about(0.099));
  CHECK(f.advice.find("Keep the buffer") != std::string::npos);
}

TEST_CASE("repeated-sends: nothing without captured contents, and the hint says so once") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.use();
  }
  const auto found = found_in(p.finish_trace());
  CHECK(found.findings.empty());
  CHECK(found.hint.find("--capture hash") != std::string::npos);
}

TEST_CASE("repeated-sends: no word when the contents change, or are not known") {
  for (const bool known : {true, false}) {
    Program p;
    for (int i = 0; i < Times; ++i) {
      p.write(p.b, p.host, MiB, {.content = known ? i * i % 89 * 100 + i : -1});
      p.use();
    }
    const auto found = found_in(p.finish_trace());
    CHECK(found.findings.empty());
    CHECK(found.hint.empty());
  }
}

TEST_CASE("repeated-sends: no word when a kernel has written the buffer in between") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{p.b, Effect::UseDef}});
  }
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: no word when another part was sent, or the part was overwritten") {
  Program p, q;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB / 2, {.offset = i * MiB / 2, .content = 7, .device_ns = 5'000});
    p.use();
    q.write(q.b, q.host, MiB, {.content = 7});
    q.use();
    q.write(q.b, q.host, MiB / 2, {.content = 8});
    q.use();
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("repeated-sends: no word about buffers that lie over the program's own memory") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.call(fn(api::FnId::clEnqueueWriteBuffer),
           {to(0, Effect::Use, p.queue), to(1, Effect::UseDef, p.b), number(2, 1), number(3, 0), number(4, MiB),
            at(5, Effect::Use, p.host), number(ParamReturn, 0), number(ParamContent, 7),
            at(ParamImplied, Effect::UseDef, p.host)},
           1'000'000, 1'000'000, MiB, Direction::HostToDevice);
    p.use();
  }
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: a trace with gaps proves nothing") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  p.lose_calls();
  check_none(p.finish_trace());
}

TEST_CASE("repeated-sends: failed calls send nothing") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.call(fn(api::FnId::clEnqueueWriteBuffer),
           {to(0, Effect::Use, p.queue), to(1, Effect::UseDef, p.b), number(2, 1), number(3, 0), number(4, MiB),
            at(5, Effect::Use, p.host), number(ParamReturn, -30), number(ParamContent, 7)},
           1'000'000, 1'000'000, MiB, Direction::HostToDevice);
    p.use();
  }
  check_none(p.finish_trace());
}

// --- unread-sends ---

TEST_CASE("unread-sends: overwritten before any kernel runs") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.at_place(0x4100);
    p.write(p.b, p.host, MiB);
    p.use();
    p.at_place(0x4000);
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: to buffers that are released unused") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB);
    p.write(b, p.host, MiB);
    p.release(b);
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: an argument that the kernel does not touch") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.launch(p.k, {{p.b, Effect::None}});
  }
  CHECK(seconds(only(p.finish_trace(), "unread-sends")) == about(0.1));
}

TEST_CASE("unread-sends: no word where a kernel may read, or only a part is overwritten") {
  Program p, q;
  p.write(p.b, p.host, MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.launch(p.k, {{p.b, Effect::UseDef}});
    q.write(q.b, q.host, MiB);
    q.write(q.b, q.host, MiB / 2);
    q.use();
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("unread-sends: no word about pieces that one kernel reads together, in whatever order they are sent") {
  Program p, q;
  for (int i = 0; i < Times; ++i) p.write(p.b, p.host, MiB / 16, {.offset = (Times - i) * MiB / 16});
  p.use();
  std::vector<Object> many;
  q.at_place(0x6000);
  for (int i = 0; i < Times; ++i) many.push_back(q.buffer(MiB));
  for (int i = 0; i < Times; ++i) q.write(many[static_cast<size_t>(i)], q.host, MiB);
  for (int i = Times; i-- > 0;) q.launch(q.k, {{many[static_cast<size_t>(i)], Effect::Use}});
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

TEST_CASE("unread-sends: reading back, copying and mapping are reading") {
  Program p, q, r;
  q.at_place(0x7000);
  const Object copy = q.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB);
    p.read(p.b, p.host, MiB);
    q.write(q.b, q.host, MiB);
    q.call(fn(api::FnId::clEnqueueCopyBuffer),
           {to(0, Effect::Use, q.queue), to(1, Effect::Use, q.b), to(2, Effect::UseDef, copy), number(3, 0),
            number(4, 0), number(5, MiB), number(ParamReturn, 0)},
           1000, 1000, MiB, Direction::DeviceToDevice);
    r.write(r.b, r.host, MiB);
    r.unmap(r.b, r.map(r.b, MiB, 1, 1000), MiB, false, 1000);
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
  check_none(r.finish_trace());
}

// --- returned-results ---

TEST_CASE("returned-results: to the buffer that still has them") {
  Program p;
  p.write(p.b, p.host, MiB, {.content = 0});
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = i + 1});
    p.write(p.b, p.host, MiB, {.content = i + 1});
  }
  CHECK(seconds(only(p.finish_trace(), "returned-results")) == about(0.1));
}

TEST_CASE("returned-results: to the input of the next kernel") {
  Program p;
  p.at_place(0x5000);
  const Object in = p.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{in, Effect::Use}, {p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = i});
    p.write(in, p.host, MiB, {.content = i});
  }
  const Finding f = only(p.finish_trace(), "returned-results");
  CHECK(seconds(f) == about(0.1));
  CHECK(f.advice.find("clEnqueueCopyBuffer") != std::string::npos);
}

TEST_CASE("returned-results: no word when the host has changed them, or sends them from elsewhere") {
  Program p, q;
  q.at_place(0x8000);
  const Object elsewhere = q.allocate(MiB);
  q.at_place(0x5000);
  const Object in = q.buffer(MiB);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.read(p.b, p.host, MiB, {.content = 2 * i});
    p.write(p.b, p.host, MiB, {.content = 2 * i + 1});
    q.launch(q.k, {{in, Effect::Use}, {q.b, Effect::UseDef}});
    q.read(q.b, q.host, MiB, {.content = i});
    q.write(in, elsewhere, MiB, {.content = i});
  }
  check_none(p.finish_trace());
  check_none(q.finish_trace());
}

// --- idle-waits ---

TEST_CASE("idle-waits: after every kernel") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.finish(600'000);
  }
  CHECK(seconds(only(p.finish_trace(), "idle-waits")) == about(0.05));
}

TEST_CASE("idle-waits: when nothing is on its way") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.read(p.b, p.host, MiB);
    p.finish(300'000);
  }
  CHECK(seconds(only(p.finish_trace(), "idle-waits")) == about(0.03));
}

TEST_CASE("idle-waits: no word where the host may need it") {
  Program transfer, asks, second;
  second.at_place(0x9000);
  const Object other = second.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 0)});
  for (int i = 0; i < Times; ++i) {
    transfer.read(transfer.b, transfer.host, MiB, {.blocking = false});
    transfer.finish(600'000);
    const Object event{asks.queue.cls, 0};
    asks.launch(asks.k, {{asks.b, Effect::UseDef}}, 100'000);
    asks.finish(600'000);
    asks.call(fn(api::FnId::clGetEventProfilingInfo), {to(0, Effect::Use, event), number(1, 0x1280)}, 1000);
    second.launch(second.k, {{second.b, Effect::UseDef}}, 100'000);
    second.finish(600'000);
    second.write(other, second.b, second.host, MiB, {});
  }
  check_none(transfer.finish_trace());
  check_none(asks.finish_trace());
  check_none(second.finish_trace());
}

TEST_CASE("idle-waits: no word for kernels that print, and for a queue without order") {
  RuleTrace p;
  const Object b = p.buffer(MiB);
  const Object k = p.kernel("kernel void k(global int* a) { printf(\"%d\", a[0]); }");
  for (int i = 0; i < Times; ++i) {
    p.launch(k, {{b, Effect::UseDef}}, 100'000);
    p.finish(600'000);
  }
  check_none(p.finish_trace());
  Program q;
  q.at_place(0x9000);
  q.queue = q.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 1)});
  for (int i = 0; i < Times; ++i) {
    q.launch(q.k, {{q.b, Effect::UseDef}}, 100'000);
    q.finish(600'000);
  }
  check_none(q.finish_trace());
}

// --- small-transfers ---

TEST_CASE("small-transfers: neighbouring pieces in a loop") {
  Program p;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 200; ++j) p.write(p.b, p.host, 64, {.offset = j * 64, .device_ns = 1000, .host_ns = 20'000});
    p.use();
  }
  CHECK(seconds(only(p.finish_trace(), "small-transfers")) == about(0.0397));
}

TEST_CASE("small-transfers: no word about one place, a kernel in between, large or irregular pieces") {
  Program place, kernel, large, irregular;
  for (int i = 0; i < 2000; ++i) {
    place.read(place.b, place.host, 64, {.device_ns = 1000, .host_ns = 20'000});
    kernel.write(kernel.b, kernel.host, 64, {.offset = i * 64, .device_ns = 1000, .host_ns = 20'000});
    kernel.launch(kernel.k, {{kernel.b, Effect::Use}}, 100);
    large.write(large.b, large.host, 64 << 10, {.offset = i * 64 * 1024, .device_ns = 1000, .host_ns = 20'000});
    irregular.write(irregular.b, irregular.host, 64,
                    {.offset = i * i % 1009 * 64, .device_ns = 1000, .host_ns = 20'000});
  }
  large.use();
  irregular.use();
  for (Program* p : {&place, &kernel, &large, &irregular}) check_none(p->finish_trace());
}

// --- buffers-in-loop ---

TEST_CASE("buffers-in-loop: made and released each time") {
  Program p;
  for (int i = 0; i < 200; ++i) {
    const Object b = p.buffer(MiB, 1, 50'000);
    p.launch(p.k, {{b, Effect::UseDef}});
    p.release(b, 30'000);
  }
  CHECK(seconds(only(p.finish_trace(), "buffers-in-loop")) == about(0.016));
}

TEST_CASE("buffers-in-loop: no word when all of them live, when sizes differ, or when they get contents") {
  Program all, sizes, contents;
  std::vector<Object> made;
  all.at_place(0x6000), sizes.at_place(0x6000), contents.at_place(0x6000);
  for (int i = 0; i < 200; ++i) {
    made.push_back(all.buffer(MiB, 1, 50'000));
    const Object b = sizes.buffer(MiB + i * i % 777 * 64, 1, 50'000);
    sizes.launch(sizes.k, {{b, Effect::UseDef}});
    sizes.release(b);
    const Object c = contents.make(ObjectKind::Buffer, api::FnId::clCreateBuffer,
                                   {number(1, 33), number(2, MiB), at(3, Effect::Use, contents.host)}, 50'000, MiB,
                                   Direction::HostToDevice);
    contents.launch(contents.k, {{c, Effect::Use}});
    contents.release(c);
  }
  for (const Object& b : made) all.launch(all.k, {{b, Effect::UseDef}});
  for (Program* p : {&all, &sizes, &contents}) check_none(p->finish_trace());
}

// --- repeated-builds ---

TEST_CASE("repeated-builds: one kernel made again and again") {
  RuleTrace p;
  p.at_place(0x2000);
  p.program = p.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
  const Object b = p.buffer(MiB);
  for (int i = 0; i < 200; ++i) {
    const Object k = p.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, p.program)}, 40'000);
    p.launch(k, {{b, Effect::UseDef}}, 10'000);
    p.release(k);
  }
  CHECK(seconds(only(p.finish_trace(), "repeated-builds")) == about(0.008));
}

TEST_CASE("repeated-builds: no word when the kernels live on, or are of different programs") {
  RuleTrace live, programs;
  live.at_place(0x2000), programs.at_place(0x2000);
  live.program = live.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
  for (int i = 0; i < 200; ++i) {
    live.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, live.program)}, 40'000);
    programs.program = programs.make(ObjectKind::Program, api::FnId::clCreateProgramWithSource, {});
    const Object k =
        programs.make(ObjectKind::Kernel, api::FnId::clCreateKernel, {to(0, Effect::Use, programs.program)}, 40'000);
    programs.release(k);
  }
  check_none(live.finish_trace());
  check_none(programs.finish_trace());
}

// --- missed-overlap ---

TEST_CASE("missed-overlap: one queue, nothing waits") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.blocking = false});
    p.launch(p.k, {{p.b, Effect::UseDef}}, 2'000'000);
  }
  p.at_place(0x4400);
  p.read(p.b, p.host, MiB);
  CHECK(seconds(only(p.finish_trace(300'000'000), "missed-overlap")) == about(0.099));
}

TEST_CASE("missed-overlap: no word when the host waits for results, or there are two queues") {
  Program waits, queues, sends;
  queues.at_place(0x9000);
  const Object other = queues.make(ObjectKind::Queue, api::FnId::clCreateCommandQueue, {number(2, 0)});
  for (int i = 0; i < Times; ++i) {
    waits.write(waits.b, waits.host, MiB, {.blocking = false});
    waits.launch(waits.k, {{waits.b, Effect::UseDef}}, 2'000'000);
    waits.read(waits.b, waits.host, MiB);
    queues.write(other, queues.b, queues.host, MiB, {.blocking = false});
    queues.launch(queues.k, {{queues.b, Effect::UseDef}}, 2'000'000);
    // A blocking send in a queue that keeps its order waits for the results received before it.
    sends.write(sends.b, sends.host, MiB);
    sends.launch(sends.k, {{sends.b, Effect::UseDef}}, 2'000'000);
    sends.read(sends.b, sends.host, MiB, {.blocking = false});
  }
  check_none(waits.finish_trace(400'000'000));
  check_none(queues.finish_trace(400'000'000));
  check_none(sends.finish_trace(400'000'000));
}

// --- copying-maps ---

TEST_CASE("copying-maps: of a buffer that has no contents yet") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object b = p.buffer(MiB, 1 | 16);
    p.unmap(b, p.map(b, MiB, 2, 500'000), MiB, true, 500'000);
    p.launch(p.k, {{b, Effect::Use}});
    p.release(b);
  }
  const Finding f = only(p.finish_trace(), "copying-maps");
  CHECK(seconds(f) == about(0.05));
  CHECK(f.advice.find("INVALIDATE") != std::string::npos);
}

TEST_CASE("copying-maps: given back as it was") {
  Program p;
  const Object b = p.buffer(MiB, 1 | 16);
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{b, Effect::UseDef}});
    p.unmap(b, p.map(b, MiB, 3, 500'000, i), MiB, true, 500'000, i);
  }
  const Finding f = only(p.finish_trace(), "copying-maps");
  CHECK(seconds(f) == about(0.05));
  CHECK(f.advice.find("CL_MAP_READ") != std::string::npos);
}

TEST_CASE("copying-maps: buffers of the device; without a figure, as the kernels' share is not known") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.launch(p.k, {{p.b, Effect::UseDef}});
    p.unmap(p.b, p.map(p.b, MiB, 1, 500'000), MiB, false, 1'000);
  }
  CHECK_FALSE(only(p.finish_trace(), "copying-maps").saving_s);
}

TEST_CASE("copying-maps: no word when nothing is copied, contents are asked for, or the old ones are not wanted") {
  Program fast, written, invalidates;
  written.at_place(0x6000);
  const Object in_host = written.buffer(MiB, 1 | 16);
  for (int i = 0; i < Times; ++i) {
    fast.launch(fast.k, {{fast.b, Effect::UseDef}});
    fast.unmap(fast.b, fast.map(fast.b, MiB, 1, 9'000), MiB, false, 1'000);
    written.launch(written.k, {{in_host, Effect::UseDef}});
    written.unmap(in_host, written.map(in_host, MiB, 2, 500'000), MiB, true, 500'000);
    const Object b = invalidates.buffer(MiB, 1 | 16);
    invalidates.unmap(b, invalidates.map(b, MiB, 4, 1'000), MiB, true, 500'000);
    invalidates.launch(invalidates.k, {{b, Effect::Use}});
    invalidates.release(b);
  }
  for (Program* p : {&fast, &written, &invalidates}) check_none(p->finish_trace());
}

// --- first-touch ---

TEST_CASE("first-touch: results received into memory that nobody has touched") {
  const auto program = [](bool sent, bool slow) {
    Program p;
    p.read(p.b, p.host, 8 * MiB);
    p.at_place(0x8000);
    const Object fresh = p.allocate(64 * MiB);
    if (sent) p.write(p.b, fresh, MiB);
    for (int i = 0; i < 10; ++i) {
      p.use();
      p.read(p.b, fresh, 64 * MiB, {.device_ns = i == 0 && slow ? 25'000'000u : 5'000'000u});
    }
    return p.finish_trace();
  };
  CHECK(seconds(only(program(false, true), "first-touch")) == about(0.02));
  check_none(program(true, true));
  check_none(program(false, false));
}

// --- allocation-churn ---

TEST_CASE("allocation-churn: large memory for each transfer") {
  Program p;
  p.at_place(0x8000);
  for (int i = 0; i < 50; ++i) {
    const Object m = p.allocate(64 * MiB);
    p.write(p.b, m, 8 * MiB);
    p.use();
    p.free(m);
  }
  CHECK(seconds(only(p.finish_trace(), "allocation-churn")) == about(49 * 2048 * 100e-9));
}

TEST_CASE("allocation-churn: mapped memory of any size; no word where the C library keeps it") {
  for (const bool mapped : {true, false}) {
    Program p;
    p.at_place(0x8000);
    for (int i = 0; i < 50; ++i) {
      const Object m = p.allocate(16 * MiB, mapped ? api::AllocFn::Mmap : api::AllocFn::Malloc);
      p.write(p.b, m, 8 * MiB);
      p.use();
      p.free(m);
    }
    const Trace trace = p.finish_trace();
    if (mapped)
      only(trace, "allocation-churn");
    else
      check_none(trace);
  }
}

TEST_CASE("allocation-churn: no word about memory that lives, or that is never transferred") {
  Program lives, host_only;
  lives.at_place(0x8000), host_only.at_place(0x8000);
  for (int i = 0; i < 50; ++i) {
    lives.write(lives.b, lives.allocate(64 * MiB), 8 * MiB);
    lives.use();
    const Object m = host_only.allocate(64 * MiB);
    host_only.write(host_only.b, host_only.host, 8 * MiB);
    host_only.use();
    host_only.free(m);
  }
  check_none(lives.finish_trace());
  check_none(host_only.finish_trace());
}

// --- Savings ---

TEST_CASE("findings are sorted, and what they save together is no more than there is") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.launch(p.k, {{p.b, Effect::Use}}, 100'000);
    p.finish(400'000);
  }
  const auto found = found_in(p.finish_trace());
  REQUIRE(found.findings.size() == 2);
  CHECK(seconds(found.findings[0]) >= seconds(found.findings[1]));
  CHECK(found.total_s == about(seconds(found.findings[0]) + seconds(found.findings[1])));
}

TEST_CASE("savings at the same calls are not added up") {
  Program p;
  for (int i = 0; i < Times; ++i) p.write(p.b, p.host, MiB);
  p.use();
  const Trace t = p.finish_trace();
  Finding f;
  f.saving_s = 0.08;
  for (ShapeId s = 0; s < t.shapes.size(); ++s)
    if (t.shapes[s].fn == fn(api::FnId::clEnqueueWriteBuffer)) f.calls = {s};
  CHECK(analyzer::total_saving_s(t, {f}, 1'000'000'000) == about(0.08));
  CHECK(analyzer::total_saving_s(t, {f, f}, 1'000'000'000) == about(0.1));
  CHECK(analyzer::total_saving_s(t, {f, f}, 50'000'000) == about(0.05));
}

TEST_CASE("below one in a hundred of the run nothing is said") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    p.write(p.b, p.host, MiB, {.content = 7});
    p.use();
  }
  check_none(p.finish_trace(100'000'000'000));
}
