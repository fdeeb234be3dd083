#include "tracer/collect/command_times.h"

#include <algorithm>

namespace gt::tracer {

// A map that moved nothing.
static bool is_neither(const CommandTimes::Command& command) {
  return !command.launch && command.direction == model::Direction::None;
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

CommandTimes::Device& CommandTimes::device(uint32_t index) {
  if (index >= devices_.size()) devices_.resize(index + 1);
  return devices_[index];
}

void CommandTimes::skip(const Command& command, uint64_t weight) {
  if (command.shape >= samples_.size()) samples_.resize(command.shape + 1);
  Sample& sample = samples_[command.shape];
  sample.last = command;
  sample.skipped += weight;
}

void CommandTimes::leave_untimed(uint32_t index, uint64_t kernels, uint64_t transfers) {
  device(index).untimed_kernels += kernels;
  device(index).untimed_transfers += transfers;
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
  if (shape.timed++ == 0) shape.first_device_ns = end - start;
  shape.device_ns.add(end - start, weight);
  if (is_neither(command)) return true;
  Device& d = device(command.device);
  ++(command.launch ? d.kernels : d.transfers);
  (command.launch ? d.estimated_kernels : d.estimated_transfers) += weight - 1;
  if (command.launch) {
    d.kernel.add(start, end, weight);
  } else if (command.direction != model::Direction::DeviceToDevice) {  // else no host memory is involved
    d.transfer.add(start, end, weight);
    (command.direction == model::Direction::HostToDevice ? d.h2d : d.d2h).add(start, end, weight);
  } else {
    return true;
  }
  d.either.add(start, end);
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

model::DeviceTime CommandTimes::of_device(uint32_t index, const std::vector<model::ShapeStats>& stats) const {
  const Device none, &d = index < devices_.size() ? devices_[index] : none;
  model::DeviceTime out;
  out.kernels = d.kernels;
  out.transfers = d.transfers;
  out.estimated_kernels = d.estimated_kernels;
  out.estimated_transfers = d.estimated_transfers;
  out.untimed_kernels = d.untimed_kernels;
  out.untimed_transfers = d.untimed_transfers;
  uint64_t kernel = 0, h2d = 0, d2h = 0;  // ns of what is left over
  const std::vector<Sample> samples = left_over();
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto& [command, skipped] = samples[i];
    if (command.device != index || skipped == 0 || is_neither(command)) continue;
    const model::Stats& time = stats[i].device_ns;
    if (time.count == 0) {
      (command.launch ? out.untimed_kernels : out.untimed_transfers) += skipped;
      continue;
    }
    (command.launch ? out.estimated_kernels : out.estimated_transfers) += skipped;
    const uint64_t ns = time.sum / time.count * skipped;
    if (command.launch) kernel += ns;
    if (!command.launch && command.direction == model::Direction::HostToDevice) h2d += ns;
    if (!command.launch && command.direction == model::Direction::DeviceToHost) d2h += ns;
  }
  out.kernel_ns = d.kernel.length(kernel);
  out.transfer_ns = d.transfer.length(h2d + d2h);
  out.h2d_ns = d.h2d.length(h2d);
  out.d2h_ns = d.d2h.length(d2h);
  out.overlap_ns = d.kernel.intervals.length() + d.transfer.intervals.length() - d.either.length();
  return out;
}

}  // namespace gt::tracer
