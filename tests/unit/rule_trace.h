// Traces for rules: a small OpenCL program written call by call, named and folded as the collector does it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/sample_trace.h"
#include "traces/model/fold/fold.h"

namespace gt::testing {

struct Object {
  ClassId cls = NoIndex;
  int64_t slot = 0;
};

// One argument with its values. `to` builds those that name objects.
struct Given {
  Arg arg;
  std::vector<int64_t> values;
};
inline Given number(uint16_t param, int64_t v) { return {{param, ArgForm::Int, Effect::None, NoIndex}, {v}}; }
inline Given blob(uint16_t param, BlobId id) { return {{param, ArgForm::Blob, Effect::None, NoIndex}, {id}}; }
inline Given null(uint16_t param) { return {{param, ArgForm::Null, Effect::None, NoIndex}, {}}; }
inline Given to(uint16_t param, Effect e, Object o) { return {{param, ArgForm::Object, e, o.cls}, {o.slot}}; }
inline Given at(uint16_t param, Effect e, Object o, int64_t offset = 0) {
  return {{param, ArgForm::Memory, e, o.cls}, {o.slot, offset}};
}

// How a transfer is made.
struct How {
  bool blocking = true;
  int64_t offset = 0;
  int64_t content = -2;                         // -2: nothing was captured
  uint64_t device_ns = 1'000'000, host_ns = 0;  // host 0: the device's time when blocking, else 2 us
};

// The effects as they were recorded, parallel to the shapes' arguments.
inline std::vector<std::vector<Effect>> recorded_effects(const Trace& trace) {
  std::vector<std::vector<Effect>> out;
  for (const Shape& s : trace.shapes) {
    out.emplace_back();
    for (const Arg& a : s.args) out.back().push_back(a.effect);
  }
  return out;
}

class RuleTrace {
 public:
  using Id = api::FnId;

  RuleTrace() {
    queue = make(ObjectKind::Queue, Id::clCreateCommandQueue, {number(2, 0)});
    context_ns_ = 0;
  }

  // --- Objects ---
  Object make(ObjectKind kind, Id fn_id, std::vector<Given> args, uint64_t host_ns = 1000, uint64_t bytes = 0,
              Direction moves = Direction::None) {
    const auto id = fn(fn_id);
    const Object o = take(kind, id);
    args.push_back(to(ParamReturn, Effect::Def, o));
    call(id, std::move(args), host_ns, 0, bytes, moves);
    return o;
  }
  Object buffer(int64_t bytes, int64_t flags = 1, uint64_t host_ns = 1000) {
    return make(ObjectKind::Buffer, Id::clCreateBuffer, {number(1, flags), number(2, bytes), null(3)}, host_ns,
                static_cast<uint64_t>(bytes));
  }
  void release(Object o, uint64_t host_ns = 1000) {
    const bool buffer = kind_of(o) == ObjectKind::Buffer;
    const auto id = buffer ? Id::clReleaseMemObject : Id::clReleaseKernel;
    call(fn(id), {to(0, Effect::Release, o), number(ParamReturn, 0)}, host_ns);
    give_back(o);
  }
  void release_program(Object o) {
    call(fn(Id::clReleaseProgram), {to(0, Effect::Release, o), number(ParamReturn, 0)}, 1000);
    give_back(o);
  }
  Object allocate(uint64_t bytes, api::AllocFn with = api::AllocFn::Malloc) {
    const auto id = static_cast<model::FnId>(with);
    const Object o = take(ObjectKind::Segment, id);
    push(memory_, id, {number(0, static_cast<int64_t>(bytes)), to(ParamReturn, Effect::Def, o)}, 0, 0, bytes,
         Direction::None);
    return o;
  }
  void free(Object o) {
    push(memory_, static_cast<model::FnId>(api::AllocFn::Free), {at(0, Effect::Release, o)}, 0, 0, 0, Direction::None);
    give_back(o);
  }
  Object kernel(const char* source = "kernel void k(global int* a) { a[0] = 1; }") {
    const Object o = make(ObjectKind::Kernel, Id::clCreateKernel, {to(0, Effect::Use, program)}, 1000);
    bool known = false;
    for (const Kernel& k : b_.trace.kernels) known |= k.cls == o.cls;
    if (!known) b_.trace.kernels.push_back({o.cls, "k", b_.blob(source), NoIndex});
    return o;
  }

  // --- Commands ---
  void write(Object to_buffer, Object host, int64_t bytes, How how = {}) { write(queue, to_buffer, host, bytes, how); }
  void write(Object on, Object to_buffer, Object host, int64_t bytes, How how) {
    transfer(Id::clEnqueueWriteBuffer, on, Effect::UseDef, to_buffer, Effect::Use, host, bytes, how);
  }
  void read(Object from, Object host, int64_t bytes, How how = {}) {
    transfer(Id::clEnqueueReadBuffer, queue, Effect::Use, from, Effect::UseDef, host, bytes, how);
  }
  void launch(Object k, std::vector<std::pair<Object, Effect>> buffers, uint64_t device_ns = 1'000) {
    std::vector<Given> args = {to(0, Effect::Use, queue), to(1, Effect::Use, k)};
    uint16_t index = 0;
    for (const auto& [o, effect] : buffers)
      args.push_back(to(static_cast<uint16_t>(ParamKernelArg + index++), effect, o));
    args.push_back(number(ParamReturn, 0));
    call(fn(Id::clEnqueueNDRangeKernel), std::move(args), 2000, device_ns);
  }
  void finish(uint64_t host_ns, Object on) {
    call(fn(Id::clFinish), {to(0, Effect::Use, on), number(ParamReturn, 0)}, host_ns);
  }
  void finish(uint64_t host_ns) { finish(host_ns, queue); }
  Object map(Object from, int64_t bytes, int64_t flags, uint64_t device_ns, int64_t content = -2) {
    const Object mapping = take(ObjectKind::Mapping, fn(Id::clEnqueueMapBuffer));
    std::vector<Given> args = {to(0, Effect::Use, queue),
                               to(1, Effect::Use, from),
                               number(2, 1),
                               number(3, flags),
                               number(4, 0),
                               number(5, bytes),
                               to(ParamReturn, Effect::Def, mapping)};
    if (content != -2) args.push_back(number(ParamContent, content));
    const bool reads = flags != 4;  // CL_MAP_WRITE_INVALIDATE_REGION
    call(fn(Id::clEnqueueMapBuffer), std::move(args), device_ns, device_ns, static_cast<uint64_t>(bytes),
         reads ? Direction::DeviceToHost : Direction::None);
    return mapping;
  }
  void unmap(Object buffer_of, Object mapping, int64_t bytes, bool written, uint64_t device_ns, int64_t content = -2) {
    std::vector<Given> args = {to(0, Effect::Use, queue), to(1, Effect::UseDef, buffer_of),
                               at(2, Effect::Release, mapping), number(ParamReturn, 0)};
    if (content != -2) args.push_back(number(ParamContent, content));
    call(fn(Id::clEnqueueUnmapMemObject), std::move(args), device_ns, device_ns, static_cast<uint64_t>(bytes),
         written ? Direction::HostToDevice : Direction::None);
    give_back(mapping);
  }
  void call(model::FnId id, std::vector<Given> args, uint64_t host_ns, uint64_t device_ns = 0, uint64_t bytes = 0,
            Direction moves = Direction::None) {
    push(calls_, id, args, host_ns, device_ns, bytes, moves);
  }

  BlobId text(const char* text) { return b_.blob(text); }

  // The next calls stand at another place in the program.
  void at_place(int line) { line_ = line; }
  void lose_calls() { b_.trace.facts.emplace_back("lost.undecodable_records", "1"); }

  // REQUIRES: called once. `wall_ns` 0: the sum of the host's times.
  Trace finish_trace(uint64_t wall_ns = 0) {
    Trace& t = b_.trace;
    if (memory_.events() > 0) t.streams.push_back({0, true, memory_.snapshot(), {}});
    t.streams.push_back({0, false, calls_.snapshot(), {}});
    t.facts.emplace_back("wall_ns", std::to_string(wall_ns ? wall_ns : context_ns_ + 1));
    DeviceTime d;
    d.device = "gpu";
    for (size_t i = 0; i < t.shapes.size(); ++i) {
      const bool launches = api::attributes(t.shapes[i].fn).launch;
      (launches ? d.kernel_ns : d.transfer_ns) += t.stats[i].device_ns.sum;
      (launches ? d.kernels : d.transfers) += t.stats[i].device_ns.count;
    }
    t.devices.push_back(d);
    return std::move(t);
  }

  Object queue, program{NoIndex, 0};

 private:
  void transfer(Id id, Object on, Effect on_buffer, Object o, Effect on_host, Object host, int64_t bytes, How how) {
    std::vector<Given> args = {to(0, Effect::Use, on), to(1, on_buffer, o), number(2, how.blocking),
                               number(3, how.offset),  number(4, bytes),    at(5, on_host, host),
                               number(ParamReturn, 0)};
    if (how.content != -2) args.push_back(number(ParamContent, how.content));
    const uint64_t host_ns = how.host_ns ? how.host_ns : how.blocking ? how.device_ns : 2000;
    call(fn(id), std::move(args), host_ns, how.device_ns, static_cast<uint64_t>(bytes),
         api::attributes(fn(id)).transfer);
  }

  void push(Folder& folder, model::FnId id, const std::vector<Given>& args, uint64_t host_ns, uint64_t device_ns,
            uint64_t bytes, Direction moves) {
    Shape shape{id, site_of(line_), 0, false, {}, moves};
    std::vector<int64_t> values;
    for (const Given& g : args) {
      const bool names = g.arg.form == ArgForm::Object || g.arg.form == ArgForm::Memory;
      if (names && g.arg.cls == NoIndex) continue;
      shape.args.push_back(g.arg);
      values.insert(values.end(), g.values.begin(), g.values.end());
    }
    const ShapeId s = shape_of(shape);
    ShapeStats& stats = b_.trace.stats[s];
    if (stats.calls++ == 0) stats.first_host_ns = host_ns, stats.first_device_ns = device_ns;
    if (host_ns > 0) stats.host_ns.add(host_ns);
    if (device_ns > 0) stats.device_ns.add(device_ns), ++stats.timed;
    if (bytes > 0) stats.bytes.add(bytes);
    context_ns_ += host_ns;
    folder.push(s, values);
  }
  ShapeId shape_of(const Shape& shape) {
    for (ShapeId i = 0; i < b_.trace.shapes.size(); ++i)
      if (b_.trace.shapes[i] == shape) return i;
    b_.trace.shapes.push_back(shape);
    b_.trace.stats.emplace_back();
    return static_cast<ShapeId>(b_.trace.shapes.size() - 1);
  }
  SiteId site_of(int line) {
    const auto [at, fresh] = sites_.try_emplace(line, 0);
    if (fresh) at->second = b_.site(static_cast<uint64_t>(line));
    return at->second;
  }
  // The lowest free slot of the class of what is made here.
  Object take(ObjectKind kind, model::FnId id) {
    const Class cls{kind, 0, site_of(line_), id, NoIndex};
    ClassId c = 0;
    while (c < b_.trace.classes.size() && !(b_.trace.classes[c] == cls)) ++c;
    if (c == b_.trace.classes.size()) b_.trace.classes.push_back(cls);
    std::vector<bool>& used = slots_[c];
    size_t slot = 0;
    while (slot < used.size() && used[slot]) ++slot;
    if (slot == used.size()) used.push_back(false);
    used[slot] = true;
    return {c, static_cast<int64_t>(slot)};
  }
  void give_back(Object o) { slots_[o.cls][static_cast<size_t>(o.slot)] = false; }
  ObjectKind kind_of(Object o) const { return b_.trace.classes[o.cls].kind; }

  TraceBuilder b_;
  Folder calls_, memory_;
  std::map<int, SiteId> sites_;
  std::map<ClassId, std::vector<bool>> slots_;
  int line_ = 0x1000;
  uint64_t context_ns_ = 0;
};

}  // namespace gt::testing
