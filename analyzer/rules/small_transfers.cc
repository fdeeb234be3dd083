// Rule: many small transfers at one place, where the calls cost more than the bytes.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/finding.h"
#include "analyzer/units.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Many = 1000;
constexpr uint64_t Small = 16 << 10;  // bytes, the largest of them

void add_saving(const Findings& f, const model::ShapeStats& s, bool to_device, Finding& finding) {
  const model::DeviceCosts* device = f.device_costs();
  const model::PolicyCosts* costs = device ? device->costs(model::Policy::Standard) : nullptr;
  const model::Curve* curve = costs ? (to_device ? &costs->h2d : &costs->d2h) : nullptr;
  if (!curve || curve->empty()) {
    finding.basis = "not computed: no platform file with this device";
    return;
  }
  const double n = static_cast<double>(s.bytes.count), mean = static_cast<double>(s.bytes.sum) / n;
  constexpr double Together = 16;
  const double ns = n * (*curve)(mean)-n / Together * (*curve)(mean * Together);
  finding.saving_s = std::max(0.0, ns / 1e9);
  finding.basis = "if every 16 of them were one transfer";
}

}  // namespace

void find_small_transfers(Findings& f) {
  const uint64_t all_ns = f.ratio.program.transfer_ns;
  for (size_t i = 0; i < std::min(f.trace.shapes.size(), f.trace.stats.size()); ++i) {
    const model::Shape& shape = f.trace.shapes[i];
    const model::ShapeStats& s = f.trace.stats[i];
    const model::Direction direction = shape.moves;
    const bool host =
        direction == model::Direction::HostToDevice || direction == model::Direction::DeviceToHost;
    if (!host || s.bytes.count < Many || s.bytes.max > Small) continue;
    if (s.host_ns.sum * 20 < std::max(f.wall_ns(), all_ns)) continue;  // under 5 % of the run
    Finding finding;
    finding.rule = "small-transfers";
    finding.place = f.sites.find(f.trace, shape.site).place();
    finding.evidence = fmt::format(
        "{} called {} times with {} on average: {} in the calls", store::function_name(shape.fn),
        s.calls, bytes_text(s.bytes.sum / s.bytes.count), time_text(s.host_ns.sum));
    finding.advice =
        "Collect the data on the host and transfer it with fewer, larger calls; or use rectangles "
        "(clEnqueueWriteBufferRect) where the pieces are regular.";
    add_saving(f, s, direction == model::Direction::HostToDevice, finding);
    f.out.push_back(std::move(finding));
  }
}

}  // namespace gt::analyzer
