// From launches to bindings, and from the calls that made buffers to their flags.
#include "analyzer/rules/bound_buffers.h"

#include <algorithm>

#include "analyzer/calls/seen_values.h"

namespace gt::analyzer {
namespace {

// The kernel that a launch runs; nullptr where that is not known, or not what it does.
const KernelFacts* kernel_of(const Findings& f, const CallPlan& plan) {
  const auto named = std::find_if(plan.touches.begin(), plan.touches.end(), [](const Touch& t) {
    return t.kind == model::ObjectKind::Kernel && t.param < model::ParamKernelArg;
  });
  if (named == plan.touches.end()) return nullptr;
  const KernelFacts* found = nullptr;
  for (const KernelFacts& k : f.kernels) {
    if (std::find(k.classes.begin(), k.classes.end(), named->cls) == k.classes.end()) continue;
    if (found) return nullptr;  // one of several
    found = &k;
  }
  return found && found->exact && !found->others ? found : nullptr;
}

bool makes_buffer(const CallPlan& plan) {
  const Touch* made = plan.target();
  return plan.creates_memory() && plan.fn->attributes.flags >= 0 && made && made->made() && !plan.part_at.empty();
}

}  // namespace

BoundBuffers::BoundBuffers(const Findings& f) {
  std::set<model::ShapeId> births;
  for (const CallPlan& plan : f.plans) {
    if (plan.launch() && f.trace.stats[plan.shape].calls > 0) add_launch(f, plan);
    if (makes_buffer(plan)) births.insert(plan.shape);
  }
  const auto seen = find_seen_values(f.trace, births);
  for (const auto& [shape, values] : seen) {
    const CallPlan& plan = f.plans[shape];
    const SeenValues& flags = values[plan.part_at.front()];
    const auto [at, fresh] = births_.try_emplace(plan.target()->cls);
    Birth& birth = at->second;
    std::optional<int64_t> one;
    if (!flags.more && flags.values.size() == 1) one = *flags.values.begin();
    birth.flags = fresh || birth.flags == one ? one : std::nullopt;
    birth.bytes = std::max(birth.bytes, f.trace.stats[shape].bytes.max);
    if (plan.size_at == NoValue || birth.bytes > 0) continue;
    const SeenValues& sizes = values[plan.size_at];
    if (!sizes.values.empty()) birth.bytes = static_cast<uint64_t>(std::max<int64_t>(*sizes.values.rbegin(), 0));
  }
}

void BoundBuffers::add_launch(const Findings& f, const CallPlan& plan) {
  const KernelFacts* kernel = kernel_of(f, plan);
  for (const Touch& t : plan.touches) {
    if (!t.data()) continue;
    const bool argument = t.param >= model::ParamKernelArg && t.param < model::ParamReturn;
    const size_t index = t.param - size_t{model::ParamKernelArg};
    const bool known = kernel && argument && index < kernel->args.size() && kernel->elsewhere == kernels::Access::None;
    if (known)
      list_.push_back({t.cls, kernel, index, kernel->args[index].access});
    else
      unclear_.insert(t.cls);
  }
}

const Birth* BoundBuffers::birth(model::ClassId buffer) const {
  const auto at = births_.find(buffer);
  return at == births_.end() ? nullptr : &at->second;
}

}  // namespace gt::analyzer
