// A table a device: policies across, sizes down; then everything else it does; then what is not to be trusted.
#include "microbench/report/platform_table.h"

#include <algorithm>
#include <vector>

#include "microbench/report/units.h"

namespace gt::bench {
namespace {

using model::BothWays;
using model::Curve;
using model::DeviceCosts;
using model::PolicyCount;
using model::PolicyCosts;
using model::PolicyNames;

constexpr uint64_t Sizes[] = {64,      4 << 10,   64 << 10,  1 << 20,           16 << 20,
                              64 << 20, 256 << 20, 1u << 30, uint64_t{4} << 30, uint64_t{16} << 30};

// Sizes of the table up to the largest that was measured.
std::vector<double> sizes_up_to(const Curve& curve) {
  const double most = curve.quality() ? curve.quality()->to : curve.knots().back().size;
  std::vector<double> out;
  for (const uint64_t s : Sizes)
    if (static_cast<double>(s) <= most) out.push_back(static_cast<double>(s));
  return out;
}

std::string policies_table(const DeviceCosts& device) {
  std::string out = fmt::format("{:>8}", "");
  for (size_t p = 0; p < PolicyCount; ++p)
    if (device.policies[p]) out += fmt::format("  {:^26}", PolicyNames[p]);
  out += fmt::format("\n{:>8}", "size");
  for (size_t p = 0; p < PolicyCount; ++p)
    if (device.policies[p]) out += fmt::format("  {:>11} {:>6} {:>7}", "allocation", "h2d", "d2h GB/s");
  out += "\n";
  for (const double size : sizes_up_to(device.costs(model::Policy::Standard)->h2d)) {
    out += fmt::format("{:>8}", size_text(size));
    for (size_t p = 0; p < PolicyCount; ++p) {
      const auto& c = device.policies[p];
      if (!c) continue;
      out += c->max_bytes && size > static_cast<double>(c->max_bytes)
                 ? fmt::format("  {:^26}", "refused")
                 : fmt::format("  {:>11} {:>6} {:>7} ", time_text(c->allocation(size)), rate_text(size, c->h2d(size)),
                               rate_text(size, c->d2h(size)));
    }
    out += "\n";
  }
  return out;
}

// A column of the second table; `shares`: how many times the size is moved.
struct Column {
  std::string head;
  const Curve* curve;
  bool as_rate;
  double times = 1;
};

std::vector<Column> columns_of(const DeviceCosts& d) {
  std::vector<Column> out;
  const PolicyCosts& standard = *d.costs(model::Policy::Standard);
  const auto both = [&](const char* name, const BothWays& b) {
    out.push_back({std::string(name) + " h2d", &b.h2d, true});
    out.push_back({std::string(name) + " d2h", &b.d2h, true});
  };
  if (standard.window) both("32", *standard.window);
  if (d.staged) {
    out.push_back({"staged h2d", &d.staged->h2d, true});
    out.push_back({"staged d2h", &d.staged->d2h, true});
  }
  if (d.svm) both("svm", d.svm->standard);
  if (d.rect) both("rect", *d.rect);
  if (d.duplex) out.push_back({"both at once", &*d.duplex, true, 2});
  if (d.copy) out.push_back({"copy", &*d.copy, true});
  if (d.map) {
    out.push_back({"map read", &d.map->read, false});
    out.push_back({"map write", &d.map->write, false});
  }
  if (d.pin) out.push_back({"pin in place", &*d.pin, false});
  return out;
}

std::string others_table(const DeviceCosts& device) {
  const std::vector<Column> columns = columns_of(device);
  if (columns.empty()) return {};
  std::string out = fmt::format("{:>8}", "size");
  for (const Column& c : columns) out += fmt::format("  {:>12}", c.head);
  out += "\n";
  const auto& standard = device.costs(model::Policy::Standard)->h2d;
  for (const double size : sizes_up_to(standard)) {
    out += fmt::format("{:>8}", size_text(size));
    for (const Column& c : columns) {
      const bool known = !c.curve->quality() || size <= c.curve->quality()->to;
      const double ns = (*c.curve)(size);
      out += fmt::format("  {:>12}", !known ? "-" : c.as_rate ? rate_text(size * c.times, ns) : time_text(ns));
    }
    out += "\n";
  }
  return out + "GB/s for transfers (\"32\": so many waited for together) and copies, times for maps and pins.\n";
}

// How many medians are doubtful; which, the file and the page say.
std::string doubts(const DeviceCosts& d) {
  uint64_t samples = 0, outliers = 0, noisy = 0;
  const auto look = [&](const Curve& curve) {
    if (!curve.quality()) return;
    samples += curve.quality()->samples;
    outliers += curve.quality()->outliers;
    noisy += curve.quality()->noisy.size();
  };
  for (const auto& c : d.policies)
    if (c) look(c->allocation), look(c->h2d), look(c->d2h);
  for (const Column& c : columns_of(d)) look(*c.curve);
  return fmt::format("{} samples, {} outliers; {}.\n", samples, outliers,
                     noisy == 0 ? "every median is known within 10 %"
                                : fmt::format("{} medians are not known within 10 % (which: platform.json)", noisy));
}

std::string device_table(const DeviceCosts& d) {
  std::string out = fmt::format("{} ({}, driver {}{})\n", d.name, d.platform, d.driver,
                                d.host_unified.value_or(false) ? ", memory shared with the host" : "");
  out += policies_table(d) + "\n" + others_table(d);
  if (d.launch)
    out += fmt::format("Launch of an empty kernel: {} waited for, {} in a row.\n", time_text(d.launch->sync_ns),
                       time_text(d.launch->async_ns));
  return out + doubts(d);
}

std::string host_table(const model::HostCosts& h) {
  std::string out;
  if (h.first_touch) {
    const double size = h.first_touch->quality() ? h.first_touch->quality()->to : h.first_touch->knots().back().size;
    out += fmt::format("First touch of fresh memory: {} a page ({}).\n",
                       time_text((*h.first_touch)(size) / (size / 4096)), size_text(size));
  }
  for (const model::CopyRate& r : h.copy_threads)
    out += fmt::format("{}{}: {:.1f}", r.threads == 1 ? "Copying with threads, GB/s: " : ", ", r.threads,
                       r.bytes_per_s / 1e9);
  return h.copy_threads.empty() ? out : out + "\n";
}

}  // namespace

std::string platform_table(const model::Platform& platform) {
  std::string out;
  for (const DeviceCosts& d : platform.devices) out += device_table(d) + "\n";
  for (const model::FailedDevice& f : platform.failed)
    out += fmt::format("{} ({}, driver {}): {}\n\n", f.name, f.platform, f.driver, f.error);
  return out + host_table(platform.host);
}

}  // namespace gt::bench
