// Rule: one source, made into a program again and again.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/call_values.h"
#include "analyzer/finding.h"
#include "analyzer/units.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t LeastWaste = 5'000'000;  // ns

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

}  // namespace

void find_repeated_builds(Findings& f) {
  for (model::ShapeId i = 0; i < std::min(f.trace.shapes.size(), f.trace.stats.size()); ++i) {
    const model::Shape& shape = f.trace.shapes[i];
    const model::ShapeStats& s = f.trace.stats[i];
    if (store::function_name(shape.fn) != "clBuildProgram" || s.calls < 2 || s.failed > 0) continue;
    const auto program = std::find_if(
        shape.args.begin(), shape.args.end(),
        [&](const model::Arg& a) { return a.param == 0 && a.cls < f.trace.classes.size(); });
    const bool same_options =
        constant_value(f.trace, i, 3).has_value() ||
        std::none_of(shape.args.begin(), shape.args.end(), [](const model::Arg& a) {
          return a.param == 3 && model::value_count(a.form) > 0;
        });
    if (program == shape.args.end() || !same_options || !one_source(f.trace, program->cls))
      continue;
    const uint64_t longest = std::max(s.first_host_ns, s.host_ns.max);
    const uint64_t wasted = s.host_ns.sum - std::min(longest, s.host_ns.sum);
    if (wasted < LeastWaste) continue;
    f.out.push_back({"repeated-builds", f.sites.find(f.trace, shape.site).place(),
                     fmt::format("the same source was built {} times, {} in all", s.calls,
                                 time_text(s.host_ns.sum)),
                     static_cast<double>(wasted) / 1e9, "measured: all builds but the longest one",
                     "Build the program once and keep it, or keep its binary (clGetProgramInfo, "
                     "CL_PROGRAM_BINARIES) for the next time."});
  }
}

}  // namespace gt::analyzer
