// Sums by what calls are for.
#include "analyzer/calls/run_parts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "analyzer/calls/fact_number.h"
#include "analyzer/calls/host_devices.h"
#include "analyzer/calls/seen_values.h"
#include "traces/api/api.h"
#include "traces/model/folded/run_usage.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using api::ObjectKind;
using model::ShapeId;

enum class Purpose : uint8_t { Startup, Build, Memory, Transfer, Wait, Other };

bool is_opencl(model::FnId fn) { return !store::is_alloc_fn(fn) && !store::is_callback_fn(fn); }

bool is_any(ObjectKind kind, std::initializer_list<ObjectKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}
bool is_machine(ObjectKind k) {
  return is_any(k, {ObjectKind::Platform, ObjectKind::Device, ObjectKind::Context, ObjectKind::Queue});
}
bool is_code(ObjectKind k) { return is_any(k, {ObjectKind::Program, ObjectKind::Kernel}); }
bool is_memory(ObjectKind k) {
  return is_any(k, {ObjectKind::Buffer, ObjectKind::Image, ObjectKind::Svm, ObjectKind::Pipe, ObjectKind::Sampler});
}

// Of a call that makes or gives back an object of this kind.
Purpose purpose_of_life(ObjectKind kind) {
  if (is_machine(kind)) return Purpose::Startup;
  if (is_code(kind)) return Purpose::Build;
  return is_memory(kind) ? Purpose::Memory : Purpose::Other;
}

// What a call is about that makes nothing: queries of platforms and devices are part of starting up.
Purpose purpose_of_query(model::FnId fn) {
  const uint16_t count = api::param_count(fn);
  for (uint16_t i = 0; i < count; ++i)
    if (api::param_info(fn, i).kind == ObjectKind::Svm) return Purpose::Memory;
  for (uint16_t i = 0; i < count; ++i) {
    const ObjectKind kind = api::param_info(fn, i).kind;
    if (kind == ObjectKind::Program) return Purpose::Build;
    if (is_machine(kind) && kind != ObjectKind::Queue) return Purpose::Startup;
    if (kind != ObjectKind::Unknown) break;
  }
  return Purpose::Other;
}

bool moves_host_data(const model::Shape& s) {
  return s.moves == model::Direction::HostToDevice || s.moves == model::Direction::DeviceToHost;
}

Purpose purpose_of(const model::Shape& s) {
  const api::Attributes& a = api::attributes(s.fn);
  if (moves_host_data(s)) return Purpose::Transfer;
  if (a.waits || a.blocking >= 0) return Purpose::Wait;
  if (a.launch || a.records || a.transfer == model::Direction::DeviceToDevice) return Purpose::Other;
  for (const ObjectKind kind : {a.creates, a.releases, a.retains})
    if (kind != ObjectKind::Unknown) return purpose_of_life(kind);
  if (a.options >= 0) return Purpose::Build;
  return purpose_of_query(s.fn);
}

// Where the argument stands in the row of values; nothing: it has no value, or there is none.
std::optional<size_t> value_at(const model::Shape& s, int param) {
  size_t at = 0;
  for (const model::Arg& arg : s.args) {
    if (arg.param == param && arg.form == model::ArgForm::Int) return at;
    at += static_cast<size_t>(model::value_count(arg.form));
  }
  return std::nullopt;
}

std::optional<size_t> blocking_value(const model::Shape& s) { return value_at(s, api::attributes(s.fn).blocking); }

// The shapes with an argument that makes their calls wait, and never does.
std::set<ShapeId> never_waiting(const model::Trace& trace) {
  std::set<ShapeId> asked, out;
  for (ShapeId i = 0; i < trace.shapes.size(); ++i)
    if (is_opencl(trace.shapes[i].fn) && blocking_value(trace.shapes[i])) asked.insert(i);
  for (const auto& [shape, seen] : find_seen_values(trace, asked)) {
    const size_t at = *blocking_value(trace.shapes[shape]);
    if (at < seen.size() && !seen[at].more && seen[at].values == std::set<int64_t>{0}) out.insert(shape);
  }
  return out;
}

// The thread that spends most time in OpenCL calls; the sum of all others' is `beside`.
model::ThreadId busiest_thread(const model::Trace& trace, uint64_t& beside) {
  std::map<model::ThreadId, uint64_t> sums;
  for (ShapeId i = 0; i < trace.shapes.size(); ++i)
    if (is_opencl(trace.shapes[i].fn)) sums[trace.shapes[i].thread] += trace.stats[i].host_ns.sum;
  const auto most = std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; });
  if (most == sums.end()) return 0;
  beside = 0;
  for (const auto& [thread, ns] : sums) beside += thread == most->first ? 0 : ns;
  return most->first;
}

uint64_t page_cost(const model::Trace& trace, const model::Platform* platform) {
  if (const auto costs = model::read_touch_costs(trace)) return costs->page_ns;
  constexpr double Large = 64 << 20;
  if (!platform || !platform->host.first_touch) return 0;
  return static_cast<uint64_t>((*platform->host.first_touch)(Large) / (Large / model::PageBytes));
}

// Bytes of the buffers that were made. Of those from one place that differ in size the mean size counts.
uint64_t buffer_bytes(const model::Trace& trace) {
  const auto size_value = [](const model::Shape& s) -> std::optional<size_t> {
    const api::Attributes& a = api::attributes(s.fn);
    return a.creates == ObjectKind::Buffer && a.size >= 0 ? value_at(s, a.size) : std::nullopt;
  };
  std::set<ShapeId> makers;
  for (ShapeId i = 0; i < trace.shapes.size(); ++i)
    if (is_opencl(trace.shapes[i].fn) && size_value(trace.shapes[i])) makers.insert(i);
  double sum = 0;
  for (const auto& [shape, seen] : find_seen_values(trace, makers)) {
    const size_t at = *size_value(trace.shapes[shape]);
    if (at >= seen.size() || seen[at].values.empty()) continue;
    double sizes = 0;
    for (const int64_t size : seen[at].values) sizes += static_cast<double>(static_cast<uint64_t>(size));
    sum += sizes / static_cast<double>(seen[at].values.size()) * static_cast<double>(trace.stats[shape].calls);
  }
  return static_cast<uint64_t>(std::min(sum, 1e18));
}

// Page faults of the process that were in no transfer's memory. Where devices work in the host's memory their buffers'
// pages are made in the commands that touch these first, whose time has its place already.
uint64_t faults_elsewhere(const model::Trace& trace, const RunParts& p) {
  const uint64_t device = devices_share_host_memory(trace) ? buffer_bytes(trace) : 0;
  return p.faults - std::min(p.faults, (p.fresh_bytes + device) / model::PageBytes);
}

// Of all calls of a shape, on the device: those that were not timed are as the others. Nothing: none was.
std::optional<uint64_t> device_time(const model::ShapeStats& s) {
  if (s.device_ns.count == 0) return std::nullopt;
  return static_cast<uint64_t>(static_cast<double>(s.device_ns.sum) * static_cast<double>(s.calls) /
                               static_cast<double>(s.device_ns.count));
}

class Sums {
 public:
  Sums(const model::Trace& trace, RunParts& out)
      : trace_(trace), out_(out), fresh_(model::read_fresh(trace)), asynchronous_(never_waiting(trace)) {}

  void add(ShapeId shape) {
    const uint64_t ns = trace_.stats[shape].host_ns.sum;
    switch (purpose_of(trace_.shapes[shape])) {
      case Purpose::Startup: out_.startup_ns += ns; return;
      case Purpose::Build: out_.build_ns += ns; return;
      case Purpose::Memory: out_.memory_ns += ns; return;
      case Purpose::Transfer: return add_transfer(shape, ns);
      case Purpose::Wait: return wait(shape, ns);
      case Purpose::Other: out_.call_ns += ns;
    }
  }

  void share_waiting() {
    uint64_t kernels = 0, transfers = 0;
    for (const model::DeviceTime& d : trace_.devices) kernels += d.kernel_ns, transfers += d.transfer_ns;
    transfers -= std::min(transfers, inside_ns_);
    const uint64_t busy = std::min(waited_ns_, kernels + transfers);
    if (busy > 0) {
      const double part = static_cast<double>(kernels) / static_cast<double>(kernels + transfers);
      out_.kernel_ns = std::min(busy, static_cast<uint64_t>(static_cast<double>(busy) * part));
      const uint64_t moving = busy - out_.kernel_ns, touch = std::min(moving, later_touch_ns_);
      out_.transfer_ns += moving - touch;
      out_.touch_transfer_ns += touch;
    }
    out_.wait_ns = waited_ns_ - busy;
  }

 private:
  void add_transfer(ShapeId shape, uint64_t ns) {
    uint64_t moving = std::min(ns, device_time(trace_.stats[shape]).value_or(ns));
    uint64_t waiting = ns - moving;
    inside_ns_ += moving;
    if (const auto f = fresh_.find(shape); f != fresh_.end()) {
      out_.fresh_bytes += f->second.fresh;
      const uint64_t all = f->second.fresh / model::PageBytes * out_.page_ns;
      const uint64_t touch = asynchronous_.count(shape) ? 0 : std::min(ns, all);
      later_touch_ns_ += all - touch;
      const uint64_t in_moving = std::min(moving, touch);
      moving -= in_moving;
      waiting -= std::min(waiting, touch - in_moving);
      out_.touch_transfer_ns += touch;
    }
    out_.transfer_ns += moving;
    wait(shape, waiting);
  }
  void wait(ShapeId shape, uint64_t ns) { (asynchronous_.count(shape) ? out_.call_ns : waited_ns_) += ns; }

  const model::Trace& trace_;
  RunParts& out_;
  std::map<ShapeId, model::FreshBytes> fresh_;
  std::set<ShapeId> asynchronous_;
  uint64_t waited_ns_ = 0, inside_ns_ = 0;  // inside: the devices' time of transfers whose calls waited for it
  uint64_t later_touch_ns_ = 0;             // first touch in transfers whose calls did not
};

uint64_t in_calls(const RunParts& p) {
  return p.startup_ns + p.build_ns + p.memory_ns + p.transfer_ns + p.touch_transfer_ns + p.kernel_ns + p.wait_ns +
         p.call_ns;
}

}  // namespace

double RunParts::best_speedup() const {
  const uint64_t rest = whole_ns - std::min(whole_ns, reachable_ns());
  if (rest == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(whole_ns) / static_cast<double>(rest);
}

RunParts find_run_parts(const model::Trace& trace, const model::Platform* platform) {
  RunParts out;
  const auto usage = model::read_run_usage(trace);
  const uint64_t recorded = fact_number(trace, "wall_ns");
  out.whole_run = usage && usage->wall_ns >= recorded;
  out.whole_ns = out.whole_run ? usage->wall_ns : recorded;
  if (!out.known()) return out;
  out.page_ns = page_cost(trace, platform);
  if (usage) out.faults = usage->minor_faults;
  const model::ThreadId thread = busiest_thread(trace, out.beside_ns);
  Sums sums(trace, out);
  for (ShapeId i = 0; i < trace.shapes.size(); ++i)
    if (is_opencl(trace.shapes[i].fn) && trace.shapes[i].thread == thread) sums.add(i);
  sums.share_waiting();
  out.whole_ns = std::max(out.whole_ns, in_calls(out));  // clocks of a damaged trace
  const uint64_t left = out.whole_ns - in_calls(out);
  out.touch_own_ns = std::min(left, faults_elsewhere(trace, out) * out.page_ns);
  out.own_ns = left - out.touch_own_ns;
  return out;
}

}  // namespace gt::analyzer
