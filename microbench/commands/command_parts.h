// What the commands that measure devices share. Thread safety: none.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "microbench/base/devices.h"
#include "microbench/base/interrupt.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/base/command_line.h"

namespace gt::bench {

constexpr const char* Program = "gmicrobench";

// All devices, or the one of --device.
Result<std::vector<Device>> chosen_devices(const Options& options);

// Where this program is, and its fellows.
std::string own_folder();

// Whether a file can be written is asked before minutes of measuring, not after.
Status can_write(const std::string& path);

// One device after the other under one progress bar, until Ctrl-C. An Entry has platform, name, driver and error, which
// are filled in here. `measure(device, budget_s, tell, entry)`, a Status, fills in the rest in its share of `budget_s`,
// and tells how far it is, from 0 to 1.
using Tell = std::function<void(double part)>;
template <class Entry, class Measure>
std::vector<Entry> measure_each(const std::vector<Device>& devices, double budget_s, const Measure& measure) {
  constexpr double Steps = 1000;
  Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
  std::vector<Entry> out;
  const double count = static_cast<double>(devices.size());
  for (const Device& d : devices) {
    const double done = static_cast<double>(out.size());
    const Tell tell = [&](double part) {
      progress.show("measuring " + d.name, static_cast<uint64_t>((done + part) / count * Steps));
    };
    Entry& entry = out.emplace_back();
    entry.platform = d.platform, entry.name = d.name, entry.driver = d.driver;
    entry.error = measure(d, budget_s / count, tell, entry).text();
    if (interrupted()) break;
  }
  return out;
}

// The exit status of a command that has nothing to print: it was interrupted, or no device is left. Nothing: it goes
// on, and the devices that failed are named on standard error.
template <class Entry>
std::optional<int> early_end(const std::vector<Entry>& measured) {
  if (interrupted()) return end_interrupted();
  const auto failed = [](const Entry& e) { return !e.error.empty(); };
  if (std::all_of(measured.begin(), measured.end(), failed))
    return fail(Program, Status(Kind::Unsupported, measured.front().name + ": " + measured.front().error));
  for (const Entry& e : measured)
    if (failed(e)) fmt::print(stderr, "{}: {}: {}\n", Program, e.name, e.error);
  return std::nullopt;
}

}  // namespace gt::bench
