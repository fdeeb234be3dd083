// Writes a trace of many folded nodes, for tests of what reads traces: large_trace FILE NODES.
//
// Loops of different trip counts around a write, a launch and a read, with calls between them, in
// two queues; names that try to be markup.
#include <cstdio>
#include <cstdlib>

#include "tests/unit/sample_trace.h"
#include "traces/store/trace_db.h"

namespace {

using namespace gt::testing;

constexpr const char* Hostile = "</script><img src=x onerror=alert(1)><!--";

struct Shapes {
  gt::model::ShapeId write, launch, read, finish;
};

int64_t outer_trips(int64_t group) { return 1 + group % 5; }
int64_t inner_trips(int64_t group) { return 1 + group % 7; }

Shapes add_shapes(TraceBuilder& b) {
  using F = ArgForm;
  using E = Effect;
  const auto queue = b.cls(ObjectKind::Queue, fn(gt::api::FnId::clCreateCommandQueue), b.site(1));
  const auto buffer = b.cls(ObjectKind::Buffer, fn(gt::api::FnId::clCreateBuffer), b.site(2));
  const auto malloc_fn = static_cast<gt::model::FnId>(gt::api::AllocFn::Malloc);
  const auto memory = b.cls(ObjectKind::Segment, malloc_fn, b.site(3));
  const auto kernel = b.cls(ObjectKind::Kernel, fn(gt::api::FnId::clCreateKernel), b.site(4));
  b.trace.kernels.push_back({kernel, Hostile, b.blob(Hostile), b.blob("-D\"<b>\"")});
  Shapes s{};
  s.write = b.shape(fn(gt::api::FnId::clEnqueueWriteBuffer), b.site(5),
                    {{0, F::Object, E::Use, queue}, {1, F::Object, E::UseDef, buffer},
                     {5, F::Memory, E::Use, memory}});
  s.launch = b.shape(fn(gt::api::FnId::clEnqueueNDRangeKernel), b.site(6),
                     {{0, F::Object, E::Use, queue}, {1, F::Object, E::Use, kernel},
                      {gt::model::ParamKernelArg, F::Object, E::UseDef, buffer}});
  s.read = b.shape(fn(gt::api::FnId::clEnqueueReadBuffer), b.site(7),
                   {{0, F::Object, E::Use, queue}, {1, F::Object, E::Use, buffer},
                    {5, F::Memory, E::UseDef, memory}});
  s.finish = b.shape(fn(gt::api::FnId::clFinish), b.site(8), {{0, F::Object, E::Use, queue}});
  return s;
}

// Gives the number of launches.
uint64_t add_costs(TraceBuilder& b, const Shapes& s, int64_t groups) {
  uint64_t loops = 0, launches = 0;
  for (int64_t i = 0; i < groups; ++i) {
    loops += static_cast<uint64_t>(outer_trips(i));
    launches += static_cast<uint64_t>(outer_trips(i) * inner_trips(i));
  }
  b.cost(s.write, loops, 20'000, 15'000, 1 << 20);
  b.cost(s.launch, launches, 5'000, 90'000);
  b.cost(s.read, loops, 40'000, 17'000, 1 << 20);
  b.cost(s.finish, static_cast<uint64_t>(groups), 60'000);
  b.trace.devices.push_back({Hostile, launches * 90'000, loops * 32'000, loops * 15'000,
                             loops * 17'000, 0, launches, 2 * loops});
  return launches;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto nodes = static_cast<int64_t>(std::atoll(argv[2]));
  TraceBuilder b;
  b.trace.processes[0].executable = std::string("/opt/") + Hostile;
  b.trace.modules[0].path = b.trace.processes[0].executable;
  const int64_t groups = nodes / 6;
  const Shapes s = add_shapes(b);
  const uint64_t launches = add_costs(b, s, groups);
  const auto c = [](int64_t v) { return Series(v); };
  Stream stream{0, false, {}, {}};
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t queue = i % 2;
    std::vector<Node> inner = {TraceBuilder::call(s.launch, {c(queue), c(0), c(0)})};
    std::vector<Node> body = {TraceBuilder::call(s.write, {c(queue), c(0), c(0), c(0)}),
                              TraceBuilder::loop(c(inner_trips(i)), std::move(inner)),
                              TraceBuilder::call(s.read, {c(queue), c(0), c(0), c(0)})};
    stream.nodes.push_back(TraceBuilder::loop(c(outer_trips(i)), std::move(body)));
    stream.nodes.push_back(TraceBuilder::call(s.finish, {c(queue)}));
  }
  b.trace.streams.push_back(std::move(stream));
  b.trace.facts = {{"timing", "all"}, {"wall_ns", std::to_string(launches * 200'000)}};
  const gt::Status written = gt::store::write_trace(argv[1], b.trace);
  if (!written.ok()) std::fprintf(stderr, "large_trace: %s\n", written.text().c_str());
  return written.ok() ? 0 : 1;
}
