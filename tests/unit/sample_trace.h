// Traces made by hand: the loop of the paper (write, launch, read), for tests of everything that reads traces.
#pragma once

#include <string>
#include <vector>

#include "traces/api/alloc_fn.h"
#include "traces/api/api.h"
#include "traces/model/fold/event.h"

namespace gt::testing {

using namespace gt::model;  // NOLINT: test code

inline model::FnId fn(api::FnId id) { return static_cast<model::FnId>(id); }

inline Series affine(int64_t base, int64_t step) {
  return make_affine(Series(base), Series(step));
}
inline Series column(const std::vector<int64_t>& values) {
  return make_column_series(values);
}
inline Series periodic(std::vector<int64_t> values) {
  return make_periodic(std::move(values));
}

// Adds rows to a trace and gives their ids.
class TraceBuilder {
 public:
  Trace trace;

  TraceBuilder() {
    trace.processes.push_back({4711, 0, "/opt/app/app", {"app", "--size", "10"}, 0, 5'000'000, 0, 0});
    trace.threads.push_back({0, 4711});
    trace.modules.push_back({0, 0x5555'0000'0000, 0x5555'0001'0000, "/opt/app/app", "c0ffee"});
  }

  SiteId site(uint64_t offset) {
    trace.sites.push_back({0, offset});
    return static_cast<SiteId>(trace.sites.size() - 1);
  }
  BlobId blob(std::string_view text) {
    trace.blobs.push_back({Bytes(text.begin(), text.end()), text.size()});
    return static_cast<BlobId>(trace.blobs.size() - 1);
  }
  ClassId cls(ObjectKind kind, model::FnId created_by, SiteId at, BlobId label = NoIndex) {
    trace.classes.push_back({kind, 0, at, created_by, label});
    return static_cast<ClassId>(trace.classes.size() - 1);
  }
  ShapeId shape(model::FnId f, SiteId at, std::vector<Arg> args) {
    const api::Attributes& attributes = api::attributes(f);
    const bool creates = attributes.creates != ObjectKind::Unknown;  // without host memory
    const Direction moves = creates ? Direction::None : attributes.transfer;
    trace.shapes.push_back({f, at, 0, false, std::move(args), moves});
    trace.stats.emplace_back();
    return static_cast<ShapeId>(trace.shapes.size() - 1);
  }
  void cost(ShapeId s, uint64_t calls, uint64_t host_ns, uint64_t device_ns = 0, uint64_t bytes = 0) {
    ShapeStats& t = trace.stats[s];
    t.calls = calls;
    fill(t.host_ns, calls, host_ns);
    fill(t.device_ns, calls, device_ns);
    fill(t.bytes, calls, bytes);
    t.first_host_ns = host_ns;
    t.first_device_ns = device_ns;
  }
  static Node call(ShapeId s, std::vector<Series> values) {
    Node n;
    n.shape = s;
    n.values = std::move(values);
    return n;
  }
  static Node loop(Series count, std::vector<Node> body) {
    Node n;
    n.kind = Node::Kind::Loop;
    n.count = std::move(count);
    n.body = std::move(body);
    return n;
  }

 private:
  static void fill(Stats& s, uint64_t calls, uint64_t each) {
    if (each == 0) return;
    size_t bucket = 0;
    for (uint64_t v = each; v != 0; v >>= 1) ++bucket;
    s.count = calls;
    s.sum = calls * each;
    s.min = s.max = each;
    s.histogram[bucket] = static_cast<uint32_t>(calls);
  }
};

// malloc; create a queue, a buffer and a kernel; n times {write, launch, read}; free. The host time of a write is
// 1 us, of its device command 4 us for 4096 bytes.
inline Trace paper_loop(int64_t n) {
  using A = Arg;
  using F = ArgForm;
  using E = Effect;
  TraceBuilder b;
  const model::FnId malloc_fn = static_cast<model::FnId>(api::AllocFn::Malloc);
  const model::FnId free_fn = static_cast<model::FnId>(api::AllocFn::Free);
  const SiteId site_malloc = b.site(0x1100), site_queue = b.site(0x1200), site_buffer = b.site(0x1300),
               site_kernel = b.site(0x1400), site_write = b.site(0x1500), site_launch = b.site(0x1600),
               site_read = b.site(0x1700);
  const ClassId segment = b.cls(ObjectKind::Segment, malloc_fn, site_malloc);
  const ClassId queue = b.cls(ObjectKind::Queue, fn(api::FnId::clCreateCommandQueue), site_queue);
  const ClassId buffer = b.cls(ObjectKind::Buffer, fn(api::FnId::clCreateBuffer), site_buffer);
  const ClassId kernel = b.cls(ObjectKind::Kernel, fn(api::FnId::clCreateKernel), site_kernel, b.blob("vadd"));
  const BlobId source = b.blob("kernel void vadd(global float* x) { x[get_global_id(0)] += 1; }\n"
                               "kernel void other(global float* x) { x[get_global_id(0)] += 1; }\n");
  b.trace.kernels.push_back({kernel, "vadd", source, NoIndex});

  const ShapeId do_malloc = b.shape(malloc_fn, site_malloc, {{0, F::Int}, {ParamReturn, F::Object, E::Def, segment}});
  const ShapeId do_free = b.shape(free_fn, site_malloc, {{0, F::Memory, E::Release, segment}});
  const ShapeId make_queue =
      b.shape(fn(api::FnId::clCreateCommandQueue), site_queue, {{0, F::Null}, {ParamReturn, F::Object, E::Def, queue}});
  const ShapeId make_buffer =
      b.shape(fn(api::FnId::clCreateBuffer), site_buffer,
              {{1, F::Int}, {2, F::Int}, {3, F::Null}, {ParamReturn, F::Object, E::Def, buffer}});
  const ShapeId make_kernel = b.shape(fn(api::FnId::clCreateKernel), site_kernel,
                                      {{1, F::Blob}, {ParamReturn, F::Object, E::Def, kernel}});
  const ShapeId write = b.shape(fn(api::FnId::clEnqueueWriteBuffer), site_write,
                                {{0, F::Object, E::Use, queue},
                                 {1, F::Object, E::UseDef, buffer},
                                 {2, F::Int},
                                 {4, F::Int},
                                 {5, F::Memory, E::Use, segment},
                                 {ParamReturn, F::Int},
                                 {ParamAllocs, F::Int}});
  const ShapeId launch = b.shape(fn(api::FnId::clEnqueueNDRangeKernel), site_launch,
                                 {{0, F::Object, E::Use, queue},
                                  {1, F::Object, E::Use, kernel},
                                  {4, F::Int},
                                  {4, F::Int},
                                  {ParamReturn, F::Int},
                                  A{ParamKernelArg, F::Object, E::UseDef, buffer}});
  const ShapeId read = b.shape(fn(api::FnId::clEnqueueReadBuffer), site_read,
                               {{0, F::Object, E::Use, queue},
                                {1, F::Object, E::Use, buffer},
                                {2, F::Int},
                                {4, F::Int},
                                {5, F::Memory, E::UseDef, segment},
                                {ParamReturn, F::Int}});
  const auto times = static_cast<uint64_t>(n);
  b.cost(do_malloc, 1, 0, 0, 4096);
  b.cost(do_free, 1, 0);
  b.cost(make_queue, 1, 2000);
  b.cost(make_buffer, 1, 3000);
  b.cost(make_kernel, 1, 4000);
  b.cost(write, times, 1000, 4000, 4096);
  b.cost(launch, times, 1500, 20000);
  b.cost(read, times, 9000, 5000, 4096);

  const auto c = [](int64_t v) { return Series(v); };
  Stream memory{0, true, {}, {}}, opencl{0, false, {}, {}};
  memory.nodes = {TraceBuilder::call(do_malloc, {c(4096), c(0)}), TraceBuilder::call(do_free, {c(0), c(0)})};
  std::vector<Node> body = {
      TraceBuilder::call(write, {c(0), c(0), c(1), c(4096), c(0), c(0), c(0), c(0)}),
      TraceBuilder::call(launch, {c(0), c(0), c(1024), affine(1, 2), c(0), c(0)}),
      TraceBuilder::call(read, {c(0), c(0), c(1), c(4096), c(0), c(64), c(0)}),
  };
  opencl.nodes = {TraceBuilder::call(make_queue, {c(0)}), TraceBuilder::call(make_buffer, {c(1), c(4096), c(0)}),
                  TraceBuilder::call(make_kernel, {c(0), c(0)}),
                  // One memory call came before the first write.
                  TraceBuilder::call(write, {c(0), c(0), c(1), c(4096), c(0), c(0), c(0), c(1)}),
                  TraceBuilder::loop(c(n), std::move(body))};
  b.trace.stats[write].calls += 1;
  b.trace.streams.push_back(std::move(memory));
  b.trace.streams.push_back(std::move(opencl));
  b.trace.devices.push_back({"a device", times * 20000, times * 9000, times * 4000, times * 5000, 0,
                             times, 2 * times, 0, 0});
  b.trace.facts = {{"timing", "all"}, {"calls", std::to_string(4 + 3 * n)}, {"wall_ns", std::to_string(35000 * n)},
                   {"overhead.collector_ns", std::to_string(77 * n)}};
  return std::move(b.trace);
}

}  // namespace gt::testing
