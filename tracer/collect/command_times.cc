#include "tracer/collect/command_times.h"

#include <algorithm>

namespace gt::tracer {

// A map that moved nothing.
static bool is_neither(const CommandTimes::Command& command) {
  return !command.launch && command.direction == model::Direction::None;
}
// What stays on the device involves no host memory.
static bool is_transfer(const CommandTimes::Command& command) {
  return !command.launch &&
         (command.direction == model::Direction::HostToDevice || command.direction == model::Direction::DeviceToHost);
}

void CommandTimes::Busy::add(uint64_t start, uint64_t end, uint64_t weight) {
  intervals.add(start, end);
  timed_ns += end - start;
  weighted_ns += (end - start) * weight;
}

uint64_t CommandTimes::Busy::length(uint64_t more_ns) const {
  const uint64_t seen = intervals.length();
  if (timed_ns == 0 || weighted_ns + more_ns == timed_ns) return seen;
  return static_cast<uint64_t>(static_cast<double>(seen) * static_cast<double>(weighted_ns + more_ns) /
                               static_cast<double>(timed_ns));
}

void CommandTimes::Both::add(const Command& command, uint64_t start, uint64_t end, uint64_t weight) {
  (command.launch ? kernel : transfer).add(start, end, weight);
  either.add(start, end);
}

uint64_t CommandTimes::Both::overlap() const {
  return kernel.intervals.length() + transfer.intervals.length() - either.length();
}

void CommandTimes::Scope::add(const Command& command, uint64_t start, uint64_t end, uint64_t weight, bool first) {
  ++(command.launch ? counts.kernels : counts.transfers);
  (command.launch ? counts.estimated_kernels : counts.estimated_transfers) += weight - 1;
  if (!command.launch && !is_transfer(command)) return;
  all.add(command, start, end, weight);
  if (!first) steady.add(command, start, end, weight);
  if (command.launch) return;
  (command.direction == model::Direction::HostToDevice ? h2d : d2h).add(start, end, weight);
}

void CommandTimes::Scope::leave_over(const Command& command, uint64_t skipped, const model::Stats& time) {
  if (time.count == 0) {
    (command.launch ? counts.untimed_kernels : counts.untimed_transfers) += skipped;
    return;
  }
  (command.launch ? counts.estimated_kernels : counts.estimated_transfers) += skipped;
  const uint64_t ns = time.sum / time.count * skipped;
  if (command.launch) more_kernel_ns += ns;
  if (!command.launch && command.direction == model::Direction::HostToDevice) more_h2d_ns += ns;
  if (!command.launch && command.direction == model::Direction::DeviceToHost) more_d2h_ns += ns;
}

model::DeviceTime CommandTimes::Scope::time() const {
  model::DeviceTime out = counts;
  out.kernel_ns = all.kernel.length(more_kernel_ns);
  out.transfer_ns = all.transfer.length(more_h2d_ns + more_d2h_ns);
  out.h2d_ns = h2d.length(more_h2d_ns);
  out.d2h_ns = d2h.length(more_d2h_ns);
  out.overlap_ns = all.overlap();
  out.steady_kernel_ns = steady.kernel.length(more_kernel_ns);
  out.steady_transfer_ns = steady.transfer.length(more_h2d_ns + more_d2h_ns);
  out.steady_overlap_ns = steady.overlap();
  return out;
}

CommandTimes::Scope& CommandTimes::scope(std::vector<Scope>& scopes, uint32_t index) {
  if (index >= scopes.size()) scopes.resize(index + 1);
  return scopes[index];
}

template <class Visit>
void CommandTimes::for_scopes(const Command& command, const Visit& visit) {
  visit(scope(devices_, command.device));
  for (const uint32_t object : {command.queue, command.context}) {
    if (object != model::NoIndex) visit(scope(objects_, object));
  }
}

void CommandTimes::skip(const Command& command, uint64_t weight) {
  if (command.shape >= samples_.size()) samples_.resize(command.shape + 1);
  Sample& sample = samples_[command.shape];
  sample.last = command;
  sample.skipped += weight;
}

void CommandTimes::leave_untimed(const Command& where, uint64_t kernels, uint64_t transfers) {
  for_scopes(where, [&](Scope& s) {
    s.counts.untimed_kernels += kernels;
    s.counts.untimed_transfers += transfers;
  });
}

void CommandTimes::expect(uint64_t key, const Command& command) {
  skip(command, 1);
  Sample& sample = samples_[command.shape];
  pending_[key] = {command, sample.skipped};
  sample.skipped = 0;
}

bool CommandTimes::take(uint64_t key, uint64_t start, uint64_t end, std::vector<model::ShapeStats>& stats) {
  constexpr uint64_t Sane = 3'600'000'000'000;  // an hour: no command takes that long, some drivers say so
  const auto it = pending_.find(key);
  if (it == pending_.end()) return false;
  const auto [command, weight] = it->second;
  pending_.erase(it);
  model::ShapeStats& shape = stats[command.shape];
  if (start == 0 || end < start || end - start > Sane) {
    shape.insane += start != 0 || end != 0;
    skip(command, weight);
    return false;
  }
  const bool first = shape.timed++ == 0;
  if (first) shape.first_device_ns = end - start;
  shape.device_ns.add(end - start, weight);
  if (is_neither(command)) return true;
  for_scopes(command, [&, &command = command, weight = weight](Scope& s) {
    s.add(command, start, end, weight, first);
  });
  return true;
}

std::vector<CommandTimes::Sample> CommandTimes::left_over() const {
  std::vector<Sample> samples = samples_;
  for (const auto& [key, pending] : pending_) samples[pending.command.shape].skipped += pending.weight;
  return samples;
}

void CommandTimes::complete(std::vector<model::ShapeStats>& stats) const {
  const std::vector<Sample> samples = left_over();
  for (size_t i = 0; i < samples.size(); ++i) {
    model::Stats& time = stats[i].device_ns;
    if (samples[i].skipped > 0 && time.count > 0) time.add(time.sum / time.count, samples[i].skipped);
  }
}

CommandTimes::Times CommandTimes::times(const std::vector<model::ShapeStats>& stats) const {
  CommandTimes whole = *this;
  const std::vector<Sample> samples = left_over();
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto& [command, skipped] = samples[i];
    if (skipped == 0 || is_neither(command)) continue;
    whole.for_scopes(command, [&, &command = command, skipped = skipped](Scope& s) {
      s.leave_over(command, skipped, stats[i].device_ns);
    });
  }
  Times out;
  for (const Scope& s : whole.devices_) out.devices.push_back(s.time());
  for (const Scope& s : whole.objects_) out.objects.push_back(s.time());
  return out;
}

}  // namespace gt::tracer
