// Rule: buffers of one size created again and again at one place.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/call_values.h"
#include "analyzer/finding.h"
#include "analyzer/units.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {
constexpr uint64_t Many = 100;
constexpr uint16_t SizeParam = 2, HostPtrParam = 3;
}  // namespace

void find_buffers_in_loop(Findings& f) {
  for (model::ShapeId i = 0; i < std::min(f.trace.shapes.size(), f.trace.stats.size()); ++i) {
    const model::Shape& shape = f.trace.shapes[i];
    const model::ShapeStats& s = f.trace.stats[i];
    if (store::function_name(shape.fn) != "clCreateBuffer" || s.calls < Many) continue;
    const bool plain = std::any_of(shape.args.begin(), shape.args.end(), [](const model::Arg& a) {
      return a.param == HostPtrParam && a.form == model::ArgForm::Null;
    });
    const auto size = constant_value(f.trace, i, SizeParam);
    // Under 1 % of the run it is not worth a word.
    if (!plain || !size || f.wall_ns() == 0 || s.host_ns.sum * 100 < f.wall_ns()) continue;
    f.out.push_back(
        {"buffers-in-loop", f.sites.find(f.trace, shape.site).place(),
         fmt::format("{} buffers of {} each, {} in clCreateBuffer", s.calls,
                     bytes_text(static_cast<uint64_t>(*size)), time_text(s.host_ns.sum)),
         static_cast<double>(s.host_ns.sum) / 1e9,
         "measured: the time in clCreateBuffer; releasing them comes on top",
         "Create the buffer once, before the loop, and use it again."});
  }
}

}  // namespace gt::analyzer
