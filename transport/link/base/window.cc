#include "transport/link/base/window.h"

#include <algorithm>

namespace gt::wire {
namespace {

constexpr double Gain = 0.8, MostCut = 0.5;  // Swift's beta and its limit for one round trip

}  // namespace

size_t DelayWindow::chunk() const { return std::clamp(bytes() / 8, LeastChunk, MostChunk); }

void DelayWindow::measure_base(uint64_t now_ns, uint64_t delay_ns) {
  base_ns_ = std::min(base_ns_, delay_ns);
  if (epoch_ == Unknown) epoch_ = now_ns / BaseLife_ns;
  if (!probing_) {
    if (now_ns / BaseLife_ns == epoch_) return;
    epoch_ = now_ns / BaseLife_ns;
    probing_ = true;
    probe_from_ns_ = now_ns + delay_ns;  // when the queue that is there now is gone
    probe_until_ns_ = std::max(epoch_ * BaseLife_ns + Probe_ns, now_ns + 2 * delay_ns);
    probed_ns_ = Unknown;
    return;
  }
  if (now_ns >= probe_from_ns_) probed_ns_ = std::min(probed_ns_, delay_ns);
  if (now_ns < probe_until_ns_) return;
  probing_ = false;
  base_ns_ = std::min(probed_ns_, delay_ns);
}

void DelayWindow::shrink(uint64_t now_ns, uint64_t delay_ns) {
  starting_ = false;
  if (now_ns - shrunk_ns_ < round_trip_ns_) return;
  shrunk_ns_ = now_ns;
  const double above = static_cast<double>(delay_ns - target_ns()) / static_cast<double>(delay_ns);
  window_ = std::max(window_ * std::max(1 - Gain * above, MostCut), static_cast<double>(Least));
}

void DelayWindow::acknowledged(uint64_t now_ns, size_t acked_bytes, uint64_t delay_ns) {
  round_trip_ns_ = delay_ns;
  measure_base(now_ns, delay_ns);
  if (probing_) return;
  if (delay_ns > target_ns()) return shrink(now_ns, delay_ns);
  const auto acked = static_cast<double>(acked_bytes);
  const bool no_queue = delay_ns < base_ns_ + Slack_ns / 8;  // nobody else is there: do not walk, run
  window_ += starting_ ? acked : no_queue ? acked / 8 : static_cast<double>(Step) * acked / window_;
  window_ = std::min(window_, static_cast<double>(Most));
}

}  // namespace gt::wire
