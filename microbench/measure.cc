// What is measured when.
#include "microbench/measure.h"

#include <algorithm>
#include <thread>

#include "microbench/base/free_memory.h"
#include "microbench/base/interrupt.h"
#include "microbench/probes/device_probe.h"
#include "microbench/probes/host_probe.h"
#include "microbench/probes/policy_probe.h"
#include "traces/model/platform/platform_merge.h"

namespace gt::bench {
namespace {

using Progress = std::function<void(double part)>;

constexpr double HostShare = 0.06;              // of the time
// Of a device's time, whatever was spent already: a driver that took it all to open is measured roughly, not given up.
constexpr double LeastShare = 0.25;
constexpr uint64_t MostBeside = 1 << 30;        // bytes: largest size of everything but the policies
constexpr uint64_t WindowBytes = 8 << 20;       // largest transfers in windows; a window moves 32 times that
constexpr uint64_t QuickWindowBytes = 1 << 20;
constexpr uint32_t MostThreads = 64;

Goal goal(bool quick) { return quick ? Goal{0.05, 3, 60, 2} : Goal{0.02, 3, 250, 3}; }

// Is told of what is known after each step; `usable`: it has all that decides.
using Keep = std::function<Status(const model::UnfinishedDevice& so_far, bool usable)>;

// The measurements of one device, each with its share of the time that the device has; the policies, which decide
// most, come last and get what the others leave.
class DeviceRun {
 public:
  // `known`: what an earlier measurement left unfinished.
  DeviceRun(const Session& session, const MeasureOptions& options, double budget_s, uint64_t most, Progress progress,
            model::UnfinishedDevice known, Keep keep)
      : options_(options),
        budget_s_(budget_s),
        end_ns_(now_ns() + budget_s * 1e9),
        progress_(std::move(progress)),
        keep_(std::move(keep)),
        sizes_(sizes_to_measure(options.quick, most)),
        beside_(sizes_to_measure(options.quick, std::min(most / 2, MostBeside))),
        probe_(session),
        policies_(session, options.quick ? QuickWindowBytes : WindowBytes),
        known_(std::move(known)) {
    const Device& d = session.device();
    model::DeviceCosts& costs = known_.costs;
    costs.platform = d.platform;
    costs.name = d.name;
    costs.driver = d.driver;
    costs.quick = options.quick;
    costs.type = d.type;
    costs.host_unified = d.host_unified;
  }

  Status run() {
    const Step steps[] = {
        {"launch", 0.02, [&](const Pace& pace) { return probe_.launch(pace, costs()); }},
        {"copy", 0.03, over_sizes(&DeviceProbe::copy)},
        {"map", 0.03, over_sizes(&DeviceProbe::map)},
        {"rect", 0.03, over_sizes(&DeviceProbe::rect)},
        {"duplex", 0.03, over_sizes(&DeviceProbe::duplex)},
        {"pin", 0.05, over_sizes(&DeviceProbe::pin)},
        {"staged", 0.10, over_sizes(&DeviceProbe::staged)},
        {"svm", 0.05, over_sizes(&DeviceProbe::svm)},
    };
    // An earlier measurement did not come out of this one. It comes last: it may never end.
    const Step* const pending = std::ranges::find_if(steps, [&](const Step& s) { return !is_done(s); });
    const Step* const last = known_.steps.empty() ? nullptr : pending;
    for (const Step& s : steps)
      if (&s != last && !is_done(s)) GT_TRY(take(s));
    GT_TRY(policies());
    if (!last || last == std::end(steps)) return {};
    GT_TRY(keep_(known_, true));
    return take(*last);
  }

  model::DeviceCosts& costs() { return known_.costs; }
  std::vector<Series> series() const {
    std::vector<Series> all = policies_.series();
    all.insert(all.end(), probe_.series().begin(), probe_.series().end());
    return all;
  }

 private:
  struct Step {
    const char* name;
    double share;  // of the time
    std::function<Status(const Pace&)> measure;
  };
  using Sweep = Status (DeviceProbe::*)(const std::vector<uint64_t>&, const Pace&, model::DeviceCosts&);

  std::function<Status(const Pace&)> over_sizes(Sweep sweep) {
    return [this, sweep](const Pace& pace) { return (probe_.*sweep)(beside_, pace, costs()); };
  }
  bool is_done(const Step& step) const { return std::ranges::count(known_.steps, step.name) > 0; }
  Status take(const Step& step) {
    GT_TRY(step.measure(pace(step.share)));
    known_.steps.emplace_back(step.name);
    return keep_(known_, false);
  }
  Status policies() {
    std::vector<Probe> probes = policies_.probes();
    GT_TRY(sweep(probes, sizes_, rest()));
    policies_.fill(costs(), probes);
    if (!costs().costs(model::Policy::Standard)) return Status(Kind::Unsupported, "no transfer could be measured");
    return {};
  }

  Pace pace(double share) {
    const double before = done_;
    done_ += share;
    return {share * budget_s_, goal(options_.quick), [=, this](double part) { progress_(before + part * share); }};
  }
  Pace rest() {
    const double before = done_;
    return {std::max((end_ns_ - now_ns()) * 1e-9, LeastShare * budget_s_), goal(options_.quick),
            [=, this](double part) { progress_(before + part * (1 - before)); }};
  }

  const MeasureOptions& options_;
  double budget_s_, end_ns_, done_ = 0;
  Progress progress_;
  Keep keep_;
  std::vector<uint64_t> sizes_, beside_;
  DeviceProbe probe_;
  PolicyProbe policies_;
  model::UnfinishedDevice known_;
};

// What is known of the device, if it was found out in the same way.
model::UnfinishedDevice known_before(const Device& device, const MeasureOptions& options) {
  const model::UnfinishedDevice* known =
      options.before ? unfinished_of(*options.before, {device.platform, device.name, device.driver}) : nullptr;
  return known && known->costs.quick == options.quick ? *known : model::UnfinishedDevice();
}

// Measures the device into `out`.
Status measure_device(const Device& device, const MeasureOptions& options, double budget_s, uint64_t most,
                      const Progress& progress, PlatformResult& out) {
  const double start = now_ns();
  const auto session = Session::open(device);
  if (!session) return session.status();
  const uint64_t largest = std::min({most, device.memory_bytes / 4, device.max_buffer_bytes});
  const double left_s = std::max(budget_s - (now_ns() - start) * 1e-9, LeastShare * budget_s);
  const Keep keep = [&](const model::UnfinishedDevice& so_far, bool usable) -> Status {
    if (!options.keep) return {};
    model::Platform known = out.platform;
    usable ? known.devices.push_back(so_far.costs) : known.unfinished.push_back(so_far);
    return options.keep(known);
  };
  DeviceRun run(**session, options, left_s, largest, progress, known_before(device, options), keep);
  GT_TRY(run.run());
  out.platform.devices.push_back(std::move(run.costs()));
  out.devices.push_back(run.series());
  return {};
}

Status measure_host_into(PlatformResult& out, const MeasureOptions& options, uint64_t most) {
  const auto progress = [&](double part) { options.progress("memory", HostShare * part); };
  const Pace pace{options.budget_s * HostShare, goal(options.quick), progress};
  const uint32_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, MostThreads);
  const std::vector<uint64_t> sizes = sizes_to_measure(options.quick, std::min(most, MostBeside));
  Result<HostResult> host = measure_host(sizes, most, threads, pace);
  if (!host) return host.status();
  out.platform.host = std::move(host->costs);
  out.host = std::move(host->series);
  return {};
}

}  // namespace

Result<PlatformResult> measure_platform(const std::vector<Device>& devices, const MeasureOptions& options) {
  const double end = now_ns() + options.budget_s * 1e9;
  PlatformResult out;
  out.platform.machine = model::this_machine();
  out.platform.quick = options.quick;
  const uint64_t most = std::min(options.max_bytes, free_memory() / 4);
  const bool host_known = options.before && options.before->host.first_touch;
  if (!host_known) GT_TRY(measure_host_into(out, options, most));
  const double count = static_cast<double>(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    const double share = std::max((end - now_ns()) * 1e-9 / (count - static_cast<double>(i)),
                                  LeastShare * options.budget_s / count);
    const auto progress = [&](double part) {
      options.progress(device.name, HostShare + (1 - HostShare) * (static_cast<double>(i) + part) / count);
    };
    const Status status = measure_device(device, options, share, most, progress, out);
    if (interrupted()) return Status(Kind::Busy, "interrupted");
    if (!status.ok())
      out.platform.failed.push_back({device.platform, device.name, device.driver, status.text(), model::seconds_now()});
  }
  return out;
}

}  // namespace gt::bench
