// Rule: a loop that waits for a few bytes in each iteration, a flag or a sum, so that the device stands still until the
// host has read them and launched again.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/calls/node_walk.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Many = 1000;
constexpr int64_t Few = 256;  // bytes
constexpr double AskedLess = 0.9;  // of the waits go when every tenth iteration asks

struct Asking {
  const model::Node* read = nullptr;  // the one wait of the loop
  std::vector<model::ShapeId> launches;
  bool other = false;  // something else in it waits, or is not known
};

bool is_const(const model::Node& n, size_t at) { return n.values[at].kind == model::Series::Kind::Const; }

bool reads_few_bytes(const CallPlan& plan, const model::Node& n) {
  const bool read = plan.command && plan.moves == model::Direction::DeviceToHost && !plan.maps();
  if (!read || plan.size_at == NoValue || plan.blocking_at == NoValue) return false;
  return is_const(n, plan.blocking_at) && n.values[plan.blocking_at].value != 0 && is_const(n, plan.size_at) &&
         n.values[plan.size_at].value <= Few;
}

Asking asking_of(const Findings& f, const model::Node& loop) {
  Asking out;
  for (const model::Node& n : loop.body) {
    if (n.kind != model::Node::Kind::Call) {
      out.other = true;
      continue;
    }
    const CallPlan& plan = f.plans[n.shape];
    const bool may_block = plan.blocking_at != NoValue && !n.values[plan.blocking_at].is_const(0);
    if (plan.launch()) {
      out.launches.push_back(n.shape);
    } else if (reads_few_bytes(plan, n) && !out.read) {
      out.read = &n;
    } else {
      out.other |= plan.waits || plan.asks_events || may_block;
    }
  }
  return out;
}

// The loop's time on the host in the read, less the device's work that it waits for.
double standing_ns(const Findings& f, const Asking& a, uint64_t times) {
  const model::ShapeStats& read = f.trace.stats[a.read->shape];
  const auto each = [](const model::Stats& s) { return static_cast<double>(s.sum) / static_cast<double>(s.count); };
  if (read.host_ns.count < 2) return 0;
  const double later = static_cast<double>(read.host_ns.sum - std::min(read.host_ns.sum, read.first_host_ns)) /
                       static_cast<double>(read.host_ns.count - 1);
  double awaited = read.device_ns.count ? each(read.device_ns) : 0;
  for (const model::ShapeId launch : a.launches) {
    const model::Stats& device = f.trace.stats[launch].device_ns;
    if (device.count == 0) return 0;
    awaited += each(device);
  }
  return std::max(0.0, later - awaited) * static_cast<double>(times);
}

}  // namespace

void find_round_trips(Findings& f) {
  walk_loops(f.trace, [&](const model::Stream& stream, const model::Node& loop) {
    if (stream.memory) return;
    const Asking a = asking_of(f, loop);
    if (!a.read || a.launches.empty() || a.other) return;
    const model::ShapeId shape = a.read->shape;
    const uint64_t times = f.trace.stats[shape].calls;
    const double ns = AskedLess * standing_ns(f, a, times);
    if (times < Many || !worth(f, ns)) return;
    Finding finding = finding_at(f, "round-trips", shape, ns);
    finding.evidence = fmt::format(
        "a loop launches and then waits for {}, {} times; {} in these reads is more than what they wait for takes",
        bytes_text(static_cast<uint64_t>(a.read->values[f.plans[shape].size_at].value)), times,
        time_text(static_cast<uint64_t>(ns / AskedLess)));
    finding.basis = "measured: nine of ten of these waits, beyond the device's work in the loop";
    finding.advice =
        "Ask every tenth iteration or so, or let the device decide: a kernel that finds the flag set can return at "
        "once, and what the host computes from a few numbers a kernel can compute, too.";
    f.out.push_back(std::move(finding));
  });
}

}  // namespace gt::analyzer
