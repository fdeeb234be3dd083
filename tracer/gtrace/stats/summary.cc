// Sums over shapes.
#include "tracer/gtrace/stats/summary.h"

#include <algorithm>
#include <map>

#include "tracer/gtrace/base/names.h"
#include "traces/api/alloc_fn.h"
#include "traces/api/callback_fn.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

using model::Shape;
using model::ShapeStats;
using model::Trace;

uint64_t count_nodes(const std::vector<model::Node>& nodes) {
  uint64_t n = nodes.size();
  for (const model::Node& child : nodes) n += count_nodes(child.body);
  return n;
}

template <class Sum>
void add_times(Sum& sum, const model::Stats& t) {
  if (t.count == 0) return;
  sum.min_ns = sum.timed == 0 ? t.min : std::min(sum.min_ns, t.min);
  sum.max_ns = std::max(sum.max_ns, t.max);
  sum.timed += t.count;
  sum.total_ns += t.sum;
}

template <class Key, class Sum, class More>
std::vector<Sum> sorted(std::map<Key, Sum>& sums, const More& more) {
  std::vector<Sum> out;
  for (auto& entry : sums) out.push_back(std::move(entry.second));
  std::stable_sort(out.begin(), out.end(), more);
  return out;
}

bool is_callback(model::FnId fn) { return fn >= api::FirstCallbackFn; }

std::vector<FunctionSum> functions(const Trace& trace, bool callbacks) {
  std::map<model::FnId, FunctionSum> sums;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    if (is_callback(trace.shapes[i].fn) != callbacks || trace.stats[i].calls == 0) continue;
    FunctionSum& f = sums[trace.shapes[i].fn];
    f.name = store::function_name(trace.shapes[i].fn);
    f.calls += trace.stats[i].calls;
    f.failed += trace.stats[i].failed;
    add_times(f, trace.stats[i].host_ns);
  }
  return sorted(sums, [](const FunctionSum& a, const FunctionSum& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.calls > b.calls;
  });
}

// A shape's transfers, split over size classes by its histogram: counts are exact, bytes and time
// of a shape whose sizes vary are shared out by the middle of each class.
void add_transfers(const ShapeStats& s, model::Direction direction,
                   std::map<std::pair<int, uint64_t>, TransferSum>& sums) {
  const model::Stats& time = s.device_ns.count ? s.device_ns : s.host_ns;
  const auto middle = [](size_t bucket) {
    return bucket == 0 ? 0.0 : 1.5 * static_cast<double>(uint64_t{1} << (bucket - 1));
  };
  double whole = 0;
  for (size_t b = 0; b < s.bytes.histogram.size(); ++b) whole += middle(b) * s.bytes.histogram[b];
  for (size_t b = 0; b < s.bytes.histogram.size(); ++b) {
    const uint32_t count = s.bytes.histogram[b];
    if (count == 0) continue;
    const double part = count == s.bytes.count || whole == 0 ? 1 : middle(b) * count / whole;
    const uint64_t from = b == 0 ? 0 : uint64_t{1} << (b - 1);
    TransferSum& t = sums[{static_cast<int>(direction), from}];
    t.direction = direction;
    t.size_from = from;
    t.count += count;
    t.bytes += static_cast<uint64_t>(static_cast<double>(s.bytes.sum) * part + 0.5);
    t.total_ns += static_cast<uint64_t>(static_cast<double>(time.sum) * part + 0.5);
    t.device_time = s.device_ns.count > 0;
  }
}

std::vector<TransferSum> transfers(const Trace& trace) {
  std::map<std::pair<int, uint64_t>, TransferSum> sums;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    const model::Direction d = trace.shapes[i].moves;
    if (d != model::Direction::None) add_transfers(trace.stats[i], d, sums);
  }
  return sorted(sums, [](const TransferSum&, const TransferSum&) { return false; });
}

std::string kernel_name(const Trace& trace, model::ClassId kernel) {
  for (const model::Kernel& k : trace.kernels) {
    if (k.cls == kernel) return k.name;
  }
  const model::Class& c = trace.classes[kernel];
  if (c.label == model::NoIndex) return "?";
  std::string_view text = as_text(trace.blobs[c.label].bytes);
  return std::string(text.substr(0, text.find('\0')));
}

// A launch names its kernel; a command buffer launches those that it was recorded with.
std::vector<KernelSum> kernels(const Trace& trace) {
  std::map<std::string, KernelSum> sums;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    const bool launches = store::launches_kernel(trace.shapes[i].fn);
    for (const model::Arg& a : trace.shapes[i].args) {
      if (a.cls == model::NoIndex || trace.classes[a.cls].kind != model::ObjectKind::Kernel) continue;
      const bool named = launches && a.param < model::ParamKernelArg;
      if (!named && a.param != model::ParamImplied) continue;
      const std::string name = kernel_name(trace, a.cls);
      KernelSum& k = sums[name];
      k.name = name;
      k.launches += trace.stats[i].calls;
      if (!named) continue;
      add_times(k, trace.stats[i].device_ns);
      break;
    }
  }
  return sorted(sums, [](const KernelSum& a, const KernelSum& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.launches > b.launches;
  });
}

std::vector<AllocationSum> allocations(const Trace& trace) {
  std::map<std::pair<model::SiteId, model::FnId>, AllocationSum> sums;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    const Shape& shape = trace.shapes[i];
    const model::Stats& bytes = trace.stats[i].bytes;
    if (!store::is_alloc_fn(shape.fn) || bytes.count == 0) continue;
    AllocationSum& a = sums[{shape.site, shape.fn}];
    a.site = site_text(trace, shape.site);
    a.function = store::function_name(shape.fn);
    a.min_bytes = a.calls == 0 ? bytes.min : std::min(a.min_bytes, bytes.min);
    a.max_bytes = std::max(a.max_bytes, bytes.max);
    a.calls += trace.stats[i].calls;
    a.bytes += bytes.sum;
  }
  return sorted(sums,
                [](const AllocationSum& a, const AllocationSum& b) { return a.bytes > b.bytes; });
}

void add_counted(const Trace& trace, Summary& s) {
  const std::optional<model::MemoryDetail> detail = model::read_memory_detail(trace);
  if (!detail) return;
  s.counted_from = detail->from;
  s.counted_calls = detail->calls();
  for (const model::CountedRow& row : detail->rows) {
    s.counted.push_back({site_text(trace, row.site), store::function_name(row.fn), row.size_from(),
                         api::alloc_fn_info(row.fn).makes(), row.calls, row.bytes});
  }
  std::stable_sort(s.counted.begin(), s.counted.end(),
                   [](const CountedSum& a, const CountedSum& b) { return a.calls > b.calls; });
  if (detail->other_calls > 0)
    s.counted.push_back({"other sites", "", 0, false, detail->other_calls, detail->other_bytes});
}

}  // namespace

Summary summarize(const Trace& trace) {
  Summary s;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    const model::FnId fn = trace.shapes[i].fn;
    uint64_t& sum = is_callback(fn) ? s.callback_calls : store::is_alloc_fn(fn) ? s.memory_calls : s.calls;
    sum += trace.stats[i].calls;
  }
  for (const model::Stream& stream : trace.streams) s.nodes += count_nodes(stream.nodes);
  s.functions = functions(trace, false);
  s.callbacks = functions(trace, true);
  s.transfers = transfers(trace);
  s.kernels = kernels(trace);
  s.allocations = allocations(trace);
  add_counted(trace, s);
  s.objects = object_sums(trace);
  return s;
}

}  // namespace gt::tracer
