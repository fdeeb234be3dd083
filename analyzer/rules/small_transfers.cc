// Rule: a loop of small transfers between neighbouring places that could be one transfer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/calls/node_walk.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Small = 16 << 10;  // bytes, the largest of them
constexpr uint64_t Many = 16;         // transfers that could be one
// Without a platform file, one large transfer is taken to be as slow as this. Any device is faster.
constexpr double SlowestNsPerByte = 1;

struct Strip {
  const model::Node* call = nullptr;
  uint64_t calls = 0, loops = 0;  // of which each could be one transfer
};

// Is the place in the buffer different in each iteration, by the same step, and of one buffer?
bool advances(const CallPlan& plan, const model::Node& call) {
  const Touch* buffer = plan.target();
  if (!buffer || plan.offset_at == NoValue || plan.size_at == NoValue) return false;
  const model::Series& offset = call.values[plan.offset_at];
  const model::Series& size = call.values[plan.size_at];
  return offset.kind == model::Series::Kind::Affine && offset.step().kind == model::Series::Kind::Const &&
         offset.step().value != 0 && size.kind == model::Series::Kind::Const && names_few(call.values[buffer->slot_at]);
}

// The only command of a loop, when it is a small transfer that advances and nothing in the loop waits for anything.
std::optional<Strip> strip_of(const Findings& f, const model::Node& loop) {
  Strip strip;
  for (const model::Node& n : loop.body) {
    if (n.kind != model::Node::Kind::Call) return std::nullopt;
    const CallPlan& plan = f.plans[n.shape];
    if (plan.waits || plan.asks_events) return std::nullopt;
    if (!plan.command) continue;
    const uint64_t largest = f.trace.stats[n.shape].bytes.max;
    if (strip.call || !plan.host_transfer() || largest == 0 || largest > Small || !advances(plan, n))
      return std::nullopt;
    strip.call = &n;
  }
  return strip.call ? std::optional(strip) : std::nullopt;
}

// How often the loop is entered, and how often it turns in all; false when that varies, or is too little.
bool count(const CallPlace& place, Strip& strip) {
  strip.calls = 1;
  for (const model::Node* loop : place.loops) {
    if (loop->count.kind != model::Series::Kind::Const || loop->count.value <= 0) return false;
    strip.loops = strip.calls;
    strip.calls *= static_cast<uint64_t>(loop->count.value);
  }
  return strip.calls / strip.loops >= Many;
}

double saving_ns(const Findings& f, const Strip& strip, Finding& finding) {
  const model::ShapeStats& s = f.trace.stats[strip.call->shape];
  const double each = static_cast<double>(s.host_ns.sum) / static_cast<double>(std::max<uint64_t>(s.host_ns.count, 1));
  const double calls = static_cast<double>(strip.calls), loops = static_cast<double>(strip.loops);
  const double together = calls / loops * static_cast<double>(s.bytes.max);  // bytes of one large transfer
  const model::DeviceCosts* device = f.device_costs();
  const model::PolicyCosts* costs = device ? device->costs(model::Policy::Standard) : nullptr;
  const bool sends = f.plans[strip.call->shape].moves == model::Direction::HostToDevice;
  const model::Curve* curve = costs ? (sends ? &costs->h2d : &costs->d2h) : nullptr;
  if (curve && !curve->empty()) {
    finding.basis = "measured: the time in these calls, less that of the large transfers by the platform file";
    return calls * each - loops * (*curve)(together);
  }
  finding.basis = "measured: the time in these calls, less one call and 1 ns for each byte of the large transfers";
  return calls * each - loops * (each + together * SlowestNsPerByte);
}

}  // namespace

void find_small_transfers(Findings& f) {
  std::vector<Strip> strips;
  walk_calls(f.trace, [&](const CallPlace& place) {
    if (place.stream.memory || place.loops.empty() || !f.plans[place.node.shape].host_transfer()) return;
    std::optional<Strip> strip = strip_of(f, *place.loops.back());
    if (strip && strip->call == &place.node && count(place, *strip)) strips.push_back(*strip);
  });
  for (const Strip& strip : strips) {
    const CallPlan& plan = f.plans[strip.call->shape];
    Finding finding = finding_at(f, "small-transfers", plan.shape, 0);
    const double ns = saving_ns(f, strip, finding);
    if (!worth(f, ns)) continue;
    const model::ShapeStats& s = f.trace.stats[plan.shape];
    finding.saving_s = std::min(ns, time_of(s)) / 1e9;
    finding.evidence =
        fmt::format("{} in a loop, {} times in a row without another command, {} each: {} in these calls",
                    plan.fn->name, strip.calls / strip.loops, bytes_text(s.bytes.max), time_text(s.host_ns.sum));
    finding.advice =
        "Move the pieces with one call; where gaps are to stay as they are, with a rectangle "
        "(clEnqueueWriteBufferRect, clEnqueueReadBufferRect).";
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
