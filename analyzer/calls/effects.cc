// Joining launches with what their kernels do.
#include "analyzer/calls/effects.h"

#include <algorithm>
#include <map>

#include "traces/api/api.h"

namespace gt::analyzer {
namespace {

using kernels::Access;
using model::Effect;

constexpr unsigned Reads = 1, Writes = 2, Both = 3;
unsigned bits(Access access) { return static_cast<unsigned>(access); }

// What the kernels of one class do, all that it may stand for taken together.
struct Behaviour {
  std::vector<unsigned> args;
  unsigned elsewhere = 0;
  bool known = true;

  unsigned all() const {
    unsigned sum = elsewhere;
    for (const unsigned a : args) sum |= a;
    return sum;
  }
};

void merge(Behaviour& into, const KernelFacts& k) {
  into.known &= !k.args.empty() && !k.others;
  into.elsewhere |= bits(k.elsewhere);
  // Arguments beyond the shorter list mean different things: they stay as recorded.
  const bool first = into.args.empty();
  into.args.resize(first ? k.args.size() : std::min(into.args.size(), k.args.size()));
  for (size_t i = 0; i < into.args.size(); ++i)
    into.args[i] |= kernels::is_memory_object(k.args[i].space) ? bits(k.args[i].access) : Both;
}

using Behaviours = std::map<model::ClassId, Behaviour>;

Behaviours by_class(const std::vector<KernelFacts>& kernels) {
  Behaviours out;
  for (const KernelFacts& k : kernels)
    for (const model::ClassId cls : k.classes) merge(out[cls], k);
  return out;
}

// The kernel that a launch names; nullptr where it is not known what it does.
const Behaviour* launched(const model::Trace& trace, const model::Shape& shape, const Behaviours& behaviours) {
  const api::Attributes& attributes = api::attributes(shape.fn);
  if (!attributes.launch || attributes.records) return nullptr;
  for (const model::Arg& a : shape.args) {
    const bool kernel = a.param < model::ParamKernelArg && a.cls < trace.classes.size() &&
                        trace.classes[a.cls].kind == model::ObjectKind::Kernel;
    if (!kernel) continue;
    const auto found = behaviours.find(a.cls);
    return found != behaviours.end() && found->second.known ? &found->second : nullptr;
  }
  return nullptr;
}

Effect refined(Effect recorded, unsigned access) {
  if (recorded != Effect::UseDef || (access & Writes)) return recorded;
  return access & Reads ? Effect::Use : Effect::None;
}

Effect effect_of(const model::Trace& trace, const model::Arg& arg, const Behaviour& kernel) {
  // Whoever reads from a pipe takes something out of it.
  const bool pipe = arg.cls < trace.classes.size() && trace.classes[arg.cls].kind == model::ObjectKind::Pipe;
  if (pipe) return arg.effect;
  // The parent of a sub-buffer, memory used in place, memory behind other pointers: of any argument.
  if (arg.param == model::ParamImplied) return refined(arg.effect, kernel.all() | Reads);
  if (arg.param < model::ParamKernelArg || arg.param >= model::ParamReturn) return arg.effect;
  const size_t index = arg.param - model::ParamKernelArg;
  return index < kernel.args.size() ? refined(arg.effect, kernel.args[index]) : arg.effect;
}

}  // namespace

std::vector<std::vector<Effect>> refine_effects(const model::Trace& trace, const std::vector<KernelFacts>& kernels) {
  const Behaviours behaviours = by_class(kernels);
  std::vector<std::vector<Effect>> out;
  out.reserve(trace.shapes.size());
  for (const model::Shape& shape : trace.shapes) {
    const Behaviour* kernel = launched(trace, shape, behaviours);
    std::vector<Effect>& effects = out.emplace_back();
    for (const model::Arg& a : shape.args) effects.push_back(kernel ? effect_of(trace, a, *kernel) : a.effect);
  }
  return out;
}

}  // namespace gt::analyzer
