// Sums and sentences.
#include "analyzer/transfers/dispatch_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analyzer/calls/fact_number.h"
#include "analyzer/base/units.h"
#include "traces/model/ssa/object_names.h"

namespace gt::analyzer {
namespace {

Ratio ratio_of(const model::DeviceTime& d) {
  return {d.transfer_ns,
          d.kernel_ns,
          d.overlap_ns,
          d.h2d_ns,
          d.d2h_ns,
          d.transfers,
          d.kernels,
          d.estimated_transfers,
          d.estimated_kernels,
          d.untimed_transfers,
          d.untimed_kernels,
          d.steady_transfer_ns,
          d.steady_kernel_ns,
          d.steady_overlap_ns};
}

void add(Ratio& sum, const Ratio& r) {
  sum.transfer_ns += r.transfer_ns;
  sum.kernel_ns += r.kernel_ns;
  sum.overlap_ns += r.overlap_ns;
  sum.h2d_ns += r.h2d_ns;
  sum.d2h_ns += r.d2h_ns;
  sum.transfers += r.transfers;
  sum.kernels += r.kernels;
  sum.estimated_transfers += r.estimated_transfers;
  sum.estimated_kernels += r.estimated_kernels;
  sum.untimed_transfers += r.untimed_transfers;
  sum.untimed_kernels += r.untimed_kernels;
  sum.steady_transfer_ns += r.steady_transfer_ns;
  sum.steady_kernel_ns += r.steady_kernel_ns;
  sum.steady_overlap_ns += r.steady_overlap_ns;
}

std::string nothing_timed(const Ratio& r) {
  if (r.untimed_kernels + r.untimed_transfers == 0) {
    return "The program ran no kernel and transferred nothing, so there is nothing to speed up.";
  }
  return "The program's commands were not timed, so nothing can be said about where its time goes. "
         "Record it with `gtrace run --timing all`.";
}

uint64_t busy_ns(const Ratio& r) { return r.transfer_ns + r.kernel_ns - std::min(r.overlap_ns, r.kernel_ns); }

// The ratio is of the devices' time: how much of the run that is. Empty when not known.
std::string explain_share(const DispatchRatio& d, uint64_t wall_ns) {
  if (!d.share) return {};
  return fmt::format(" The devices worked for {} of the {} that the program ran{}.", time_text(busy_ns(d.program)),
                     time_text(wall_ns), *d.share < 0.05 ? ": most of its time goes elsewhere" : "");
}

std::string explain(const DispatchRatio& d) {
  const Ratio& r = d.program;
  if (!r.defined()) return nothing_timed(r);
  if (r.transfer_ns == 0) {
    return "The devices ran kernels but moved no data that was timed: there are no transfers to "
           "speed up.";
  }
  if (r.kernel_ns == 0) {
    return "The devices moved data but ran no kernel that was timed: all of their time went into "
           "transfers.";
  }
  const std::string much = fmt::format("For every second in kernels the devices spent {} in transfers",
                                       time_text(static_cast<uint64_t>(r.value() * 1e9)));
  if (d.eligible) {
    return fmt::format(
        "{}. From {:g} on (--min-ratio) moving data is a part of the devices' time that is worth speeding "
        "up.",
        much, d.min_ratio);
  }
  return fmt::format(
      "{}. Below {:g} (--min-ratio) the kernels decide how long the devices take: faster transfers "
      "would hardly show.",
      much, d.min_ratio);
}

std::string explain_steady(const Ratio& r) {
  if (!r.steady_defined() || r.kernel_ns == 0 || r.transfer_ns == 0) return {};  // the verdict has said it
  constexpr const char* Without = "Without the first execution of each call, so without set-up and warm-up,";
  if (r.steady_kernel_ns == 0) return fmt::format("{} there are transfers only.", Without);
  if (r.steady_transfer_ns == 0) return fmt::format("{} there are kernels only: none transferred twice.", Without);
  return fmt::format("{} the ratio is {:.3g}.", Without, r.steady_value());
}

std::string explain_estimated(const Ratio& r) {
  if (r.estimated_kernels + r.estimated_transfers == 0) return {};
  return fmt::format(
      "Sampled: {} of {} kernel runs and {} of {} transfers were timed and stand for the others (gtrace run --timing "
      "all times each).",
      r.kernels, r.kernels + r.estimated_kernels, r.transfers, r.transfers + r.estimated_transfers);
}

std::string explain_untimed(const Ratio& r) {
  if (r.untimed_kernels + r.untimed_transfers == 0) return {};
  return fmt::format("Not timed, so not in these figures: {} of {} kernel runs, {} of {} transfers.", r.untimed_kernels,
                     r.kernels + r.estimated_kernels + r.untimed_kernels, r.untimed_transfers,
                     r.transfers + r.estimated_transfers + r.untimed_transfers);
}

double ratio(uint64_t transfer_ns, uint64_t kernel_ns) {
  if (kernel_ns == 0) return transfer_ns ? std::numeric_limits<double>::infinity() : 0;
  return static_cast<double>(transfer_ns) / static_cast<double>(kernel_ns);
}

std::string name_of(const model::ObjectNames& names, model::ClassId cls, uint32_t slot) {
  std::string out;
  names.append(out, cls, slot);
  return out;
}

std::vector<ObjectRatio> find_objects(const model::Trace& trace, model::ObjectKind kind, CallSites& sites) {
  if (trace.object_times.empty()) return {};
  const model::ObjectNames names(trace);
  std::map<std::pair<model::ClassId, uint32_t>, ObjectRatio> objects;
  for (const model::ObjectTime& o : trace.object_times) {
    if (trace.classes[o.cls].kind != kind) continue;
    const auto [at, fresh] = objects.try_emplace({o.cls, o.slot});
    if (fresh) {
      at->second.name = name_of(names, o.cls, o.slot);
      at->second.site = sites.find(trace, trace.classes[o.cls].site);
    }
    at->second.devices.push_back(trace.devices[o.device].device);
    add(at->second.ratio, ratio_of(o.time));
  }
  std::vector<ObjectRatio> out;
  for (auto& [key, object] : objects) out.push_back(std::move(object));
  const auto busy = [](const ObjectRatio& o) { return o.ratio.transfer_ns + o.ratio.kernel_ns; };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return busy(a) > busy(b); });
  return out;
}

}  // namespace

double Ratio::value() const { return ratio(transfer_ns, kernel_ns); }
double Ratio::steady_value() const { return ratio(steady_transfer_ns, steady_kernel_ns); }

DispatchRatio find_dispatch_ratio(const model::Trace& trace, double min_ratio, CallSites& sites) {
  DispatchRatio out;
  out.min_ratio = min_ratio;
  for (const model::DeviceTime& d : trace.devices) {
    out.devices.push_back({d.device, ratio_of(d)});
    add(out.program, out.devices.back().ratio);
  }
  out.queues = find_objects(trace, model::ObjectKind::Queue, sites);
  out.contexts = find_objects(trace, model::ObjectKind::Context, sites);
  out.eligible = out.program.transfer_ns > 0 && out.program.value() >= min_ratio;
  const uint64_t wall_ns = fact_number(trace, "wall_ns");
  if (wall_ns > 0 && out.program.defined())
    out.share = static_cast<double>(busy_ns(out.program)) / static_cast<double>(wall_ns);
  out.sentence = explain(out) + explain_share(out, wall_ns);
  out.steady = explain_steady(out.program);
  out.estimated = explain_estimated(out.program);
  out.untimed = explain_untimed(out.program);
  return out;
}

}  // namespace gt::analyzer
