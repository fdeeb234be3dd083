// Rule: one source, made into a program again and again; one kernel of one program, made again and again.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/calls/call_values.h"
#include "analyzer/calls/node_walk.h"
#include "analyzer/base/units.h"
#include "analyzer/rules/finding.h"
#include "analyzer/rules/saving.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t ManyKernels = 100;

// Is the program of this class always made from one and the same source?
bool one_source(const model::Trace& trace, model::ClassId program) {
  for (model::ShapeId i = 0; i < trace.shapes.size(); ++i) {
    const model::Shape& s = trace.shapes[i];
    const bool makes = std::any_of(s.args.begin(), s.args.end(), [&](const model::Arg& a) {
      return a.cls == program && a.effect == model::Effect::Def;
    });
    if (!makes) continue;
    const auto strings = std::count_if(s.args.begin(), s.args.end(), [](const model::Arg& a) {
      return a.param == 2 && a.form == model::ArgForm::Blob;
    });
    if (store::function_name(s.fn) != "clCreateProgramWithSource" || strings != 1) return false;
    return constant_value(trace, i, 2).has_value();
  }
  return false;
}

// Is it always built for the same devices? Another device needs a build of its own.
bool same_devices(const Findings& f, model::ShapeId build) {
  bool same = true;
  walk_calls(f.trace, [&](const CallPlace& place) {
    if (place.node.shape != build) return;
    for (const Touch& t : f.plans[build].touches)
      same &= t.kind != model::ObjectKind::Device || place.node.values[t.slot_at].kind == model::Series::Kind::Const;
  });
  return same;
}

void builds(Findings& f) {
  for (model::ShapeId i = 0; i < std::min(f.trace.shapes.size(), f.trace.stats.size()); ++i) {
    const model::Shape& shape = f.trace.shapes[i];
    const model::ShapeStats& s = f.trace.stats[i];
    if (store::function_name(shape.fn) != "clBuildProgram" || s.calls < 2 || s.failed > 0) continue;
    const auto program = std::find_if(shape.args.begin(), shape.args.end(), [&](const model::Arg& a) {
      return a.param == 0 && a.cls < f.trace.classes.size();
    });
    const bool same_options = constant_value(f.trace, i, 3).has_value() ||
                              std::none_of(shape.args.begin(), shape.args.end(), [](const model::Arg& a) {
                                return a.param == 3 && model::value_count(a.form) > 0;
                              });
    if (program == shape.args.end() || !same_options || !one_source(f.trace, program->cls)) continue;
    const uint64_t longest = std::max(s.first_host_ns, s.host_ns.max);
    const uint64_t wasted = s.host_ns.sum - std::min(longest, s.host_ns.sum);
    if (!worth(f, static_cast<double>(wasted)) || !same_devices(f, i)) continue;
    Finding finding = finding_at(f, "repeated-builds", i, static_cast<double>(wasted));
    finding.evidence = fmt::format("the same source was built {} times, {} in all", s.calls, time_text(s.host_ns.sum));
    finding.basis = "measured: all builds but the longest one";
    finding.advice =
        "Build the program once and keep it, or keep its binary (clGetProgramInfo, "
        "CL_PROGRAM_BINARIES) for the next time.";
    f.out.push_back(std::move(finding));
  }
}

// Made in a loop, of one program that stays, and gone before it is made again.
bool same_kernel_again(const Findings& f, const CallPlace& place) {
  const CallPlan& plan = f.plans[place.node.shape];
  if (place.loops.empty() || plan.fn->attributes.creates != model::ObjectKind::Kernel) return false;
  bool one_program = false, few = false;
  for (const Touch& t : plan.touches) {
    const model::Series& slot = place.node.values[t.slot_at];
    if (t.kind == model::ObjectKind::Program) one_program = slot.kind == model::Series::Kind::Const;
    if (t.kind == model::ObjectKind::Kernel && t.made()) few = names_few(slot);
  }
  return one_program && few;
}

bool makes_programs(const Findings& f, const model::Node& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const model::Node& n) {
    if (n.kind == model::Node::Kind::Loop) return makes_programs(f, n);
    return n.kind != model::Node::Kind::Call || f.plans[n.shape].fn->attributes.creates == model::ObjectKind::Program;
  });
}

void kernels(Findings& f) {
  std::vector<model::ShapeId> seen;
  walk_calls(f.trace, [&](const CallPlace& place) {
    const model::ShapeId shape = place.node.shape;
    const model::ShapeStats& s = f.trace.stats[shape];
    if (s.calls < ManyKernels || !same_kernel_again(f, place) || makes_programs(f, *place.loops.front())) return;
    if (std::find(seen.begin(), seen.end(), shape) != seen.end()) return;
    seen.push_back(shape);
    const double ns = static_cast<double>(s.host_ns.sum - std::min(s.first_host_ns, s.host_ns.sum));
    if (!worth(f, ns)) return;
    Finding finding = finding_at(f, "repeated-builds", shape, ns);
    finding.evidence = fmt::format("the same kernel of the same program was made {} times, {} in all", s.calls,
                                   time_text(s.host_ns.sum));
    finding.basis = "measured: all of these calls but the first; releasing the kernels comes on top";
    finding.advice = "Make the kernel once, before the loop, and set its arguments again.";
    f.out.push_back(std::move(finding));
  });
}

}  // namespace

void find_repeated_builds(Findings& f) {
  builds(f);
  kernels(f);
}

}  // namespace gt::analyzer
