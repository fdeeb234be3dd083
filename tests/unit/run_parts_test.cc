// Where a run's time goes, and what follows from it: Amdahl's bound, and no saving beyond it.
#include "analyzer/calls/run_parts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/report/run_json.h"
#include "analyzer/report/run_report.h"
#include "analyzer/rules/saving.h"
#include "tests/unit/findings_check.h"
#include "traces/model/folded/run_usage.h"

using namespace gt;
using namespace gt::testing;
using analyzer::find_run_parts;
using analyzer::RunParts;

namespace {

constexpr uint64_t Ms = 1'000'000;
constexpr uint64_t Wall = 1000 * Ms;

uint64_t sum(const RunParts& run) {
  uint64_t ns = 0;
  for (const analyzer::RunPart& part : analyzer::RunPartList) ns += run.*part.ns;
  return ns;
}

// The shape of the only read of a trace.
ShapeId read_of(const Trace& t) {
  for (ShapeId i = 0; i < t.shapes.size(); ++i)
    if (t.shapes[i].fn == fn(api::FnId::clEnqueueReadBuffer)) return i;
  return NoIndex;
}

// A kernel of 400 ms, and a read of 100 ms that waits for it, and for something else for 100 ms.
struct ReadAfterKernel : Program {
  ReadAfterKernel() {
    launch(k, {{b, Effect::UseDef}}, 400 * Ms);
    read(b, host, 8 * MiB, {.device_ns = 100 * Ms, .host_ns = 600 * Ms});
  }
};

}  // namespace

TEST_CASE("a call that moves data waits for what came before, and takes its command's time") {
  ReadAfterKernel p;
  const RunParts run = find_run_parts(p.finish_trace(Wall), nullptr);
  CHECK(run.whole_ns == Wall);
  CHECK_FALSE(run.whole_run);
  CHECK(run.transfer_ns == 100 * Ms);
  CHECK(run.kernel_ns == 400 * Ms);
  CHECK(run.wait_ns == 100 * Ms);
  CHECK(sum(run) == Wall);
  CHECK(run.reachable_ns() == 100 * Ms);
  CHECK(run.best_speedup() == doctest::Approx(1 / 0.9));
}

TEST_CASE("waiting is for kernels and transfers in proportion, and calls that do not wait are no waiting") {
  Program p;
  p.write(p.b, p.host, 8 * MiB, {.blocking = false, .device_ns = 101 * Ms, .host_ns = 1 * Ms});
  p.launch(p.k, {{p.b, Effect::UseDef}}, 300 * Ms);
  p.finish(200 * Ms);
  const Trace t = p.finish_trace(Wall);
  const RunParts run = find_run_parts(t, nullptr);
  CHECK(run.kernel_ns == 150 * Ms);
  CHECK(run.transfer_ns == 51 * Ms);
  CHECK(run.wait_ns == 0);

  Program small;
  for (int i = 0; i < Times; ++i)
    small.write(small.b, small.host, 64, {.blocking = false, .device_ns = 100, .host_ns = 3000});
  small.launch(small.k, {{small.b, Effect::UseDef}}, 300 * Ms);
  const RunParts calls = find_run_parts(small.finish_trace(Wall), nullptr);
  CHECK(calls.kernel_ns == 0);
  CHECK(calls.call_ns == Times * 2900 + 2000);
}

TEST_CASE("starting, building and making objects are told apart") {
  Program p;
  p.call(fn(api::FnId::clGetPlatformIDs), {number(ParamReturn, 0)}, 20 * Ms);
  p.call(fn(api::FnId::clGetDeviceInfo), {number(ParamReturn, 0)}, 1 * Ms);
  p.call(fn(api::FnId::clBuildProgram), {number(ParamReturn, 0)}, 30 * Ms);
  p.call(fn(api::FnId::clSVMFree), {}, 5 * Ms);
  p.call(fn(api::FnId::clSetKernelArg), {number(ParamReturn, 0)}, 7 * Ms);
  p.release(p.b, 4 * Ms);
  const RunParts run = find_run_parts(p.finish_trace(Wall), nullptr);
  CHECK(run.startup_ns / Ms == 21);
  CHECK(run.build_ns / Ms == 30);
  CHECK(run.memory_ns / Ms == 9);
  CHECK(run.call_ns / Ms == 7);
  CHECK(sum(run) == Wall);
}

TEST_CASE("first touch is taken off the transfer that it is in, and off the program's own time") {
  ReadAfterKernel p;
  Trace t = p.finish_trace(900 * Ms);
  add_run_facts(t, {Wall, 0, 0, 52'048, 0}, {1000, {}});
  add_fresh_facts(t, {{read_of(t), {8 * MiB, 8 * MiB}}});
  const RunParts run = find_run_parts(t, nullptr);
  CHECK(run.whole_run);
  CHECK(run.whole_ns == Wall);
  CHECK(run.touch_transfer_ns == 2048 * 1000);  // 8 MiB are 2048 pages
  CHECK(run.transfer_ns == 100 * Ms - 2048 * 1000);
  CHECK(run.kernel_ns == 400 * Ms);
  CHECK(run.touch_own_ns == 50 * Ms);
  CHECK(run.reachable_ns() == 150 * Ms);
  CHECK(sum(run) == Wall);
}

TEST_CASE("first touch in a transfer that does not block is where it is waited for") {
  Program p;
  p.read(p.b, p.host, 8 * MiB, {.blocking = false, .device_ns = 100 * Ms, .host_ns = 1 * Ms});
  p.finish(99 * Ms);
  Trace t = p.finish_trace(900 * Ms);
  add_run_facts(t, {Wall, 0, 0, 0, 0}, {1000, {}});
  add_fresh_facts(t, {{read_of(t), {8 * MiB, 8 * MiB}}});
  const RunParts run = find_run_parts(t, nullptr);
  CHECK(run.touch_transfer_ns == 2048 * 1000);
  CHECK(run.transfer_ns == 100 * Ms - 2048 * 1000);
  CHECK(sum(run) == Wall);
}

TEST_CASE("first touch in a transfer is never more than the call, elsewhere never more than is left") {
  ReadAfterKernel p;
  Trace t = p.finish_trace(900 * Ms);
  add_run_facts(t, {Wall, 0, 0, 10'000'000, 0}, {1'000'000, {}});
  add_fresh_facts(t, {{read_of(t), {8 * MiB, 8 * MiB}}});
  const RunParts run = find_run_parts(t, nullptr);
  CHECK(run.touch_transfer_ns == 600 * Ms);
  CHECK(run.transfer_ns == 0);
  CHECK(run.own_ns == 0);
  CHECK(sum(run) == Wall);
}

TEST_CASE("a processor's buffers are touched in commands, which have their place") {
  ReadAfterKernel gpu, cpu;
  Trace on_gpu = gpu.finish_trace(Wall), on_cpu = cpu.finish_trace(Wall);
  on_cpu.devices[0].device = "pthread-haswell";
  for (Trace* t : {&on_gpu, &on_cpu}) add_run_facts(*t, {Wall, 0, 0, 3000, 0}, {1000, {}});
  CHECK(find_run_parts(on_gpu, nullptr).touch_own_ns == 3000 * 1000);
  CHECK(find_run_parts(on_cpu, nullptr).touch_own_ns == (3000 - 2048) * 1000);
}

TEST_CASE("what a first touch costs is the platform's where the trace does not say") {
  ReadAfterKernel p;
  Trace t = p.finish_trace(Wall);
  add_run_facts(t, {Wall, 0, 0, 1000, 0}, {});
  Platform platform;
  platform.host.first_touch = Curve::make({{64 << 20, 2000.0 * 16384}}).value();
  CHECK(find_run_parts(t, nullptr).touch_own_ns == 0);
  CHECK(find_run_parts(t, &platform).touch_own_ns == 2000 * 1000);
}

TEST_CASE("calls of other threads are beside, in no part") {
  ReadAfterKernel p;
  Trace t = p.finish_trace(Wall);
  const uint64_t before = find_run_parts(t, nullptr).own_ns;
  t.threads.push_back({0, 4712});
  t.shapes.push_back({fn(api::FnId::clFinish), 0, 1, false, {}, Direction::None});
  t.stats.emplace_back();
  t.stats.back().host_ns.add(300 * Ms);
  const RunParts run = find_run_parts(t, nullptr);
  CHECK(run.beside_ns == 300 * Ms);
  CHECK(run.own_ns == before);
}

TEST_CASE("no saving is more than the run, and goptimize's no more than it can reach") {
  ReadAfterKernel p;
  const RunParts run = find_run_parts(p.finish_trace(Wall), nullptr);
  std::vector<Finding> findings(3);
  findings[0].saving_s = findings[1].saving_s = 7;
  findings[0].by_goptimize = findings[2].by_goptimize = true;
  analyzer::cap_savings(findings, run);
  CHECK(findings[0].saving_s == 0.1);
  CHECK(findings[1].saving_s == 1.0);
  CHECK_FALSE(findings[2].saving_s);
}

TEST_CASE("a run of unknown length has no parts, one of nothing but transfers no bound") {
  Trace t = paper_loop(10);
  std::erase_if(t.facts, [](const auto& f) { return f.first == "wall_ns"; });
  CHECK_FALSE(find_run_parts(t, nullptr).known());
  CHECK(analyzer::run_json(find_run_parts(t, nullptr)).is_null());

  RunParts only;
  only.whole_ns = only.transfer_ns = 5;
  CHECK(std::isinf(only.best_speedup()));
  CHECK(analyzer::run_json(only)["best_speedup"].is_null());
  CHECK(analyzer::bound_text(only).find("inf") == std::string::npos);
}

TEST_CASE("the parts are in the report before anything is promised") {
  ReadAfterKernel p;
  const RunParts run = find_run_parts(p.finish_trace(Wall), nullptr);
  analyzer::Text out(100, false);
  add_run(out, run);
  const std::string text = out.take();
  CHECK(text.find("Waiting for kernels") != std::string::npos);
  CHECK(text.find("40.0 %") != std::string::npos);
  CHECK(analyzer::bound_text(run).find("100 ms shorter at best, 1.11 times as fast") != std::string::npos);
}
