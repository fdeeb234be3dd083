#include "transport/link/window.h"

#include <algorithm>

namespace gt::wire {
namespace {

constexpr double Gain = 0.8, MostCut = 0.5;  // Swift's beta and its limit for one round trip

}  // namespace

size_t DelayWindow::chunk() const { return std::clamp(bytes() / 4, LeastChunk, MostChunk); }

void DelayWindow::measure_base(uint64_t now_ns, uint64_t delay_ns) {
  if (delay_ns < base_ns_) {
    base_ns_ = delay_ns;
    base_since_ns_ = now_ns;
  }
  if (probing_ && now_ns >= probe_until_ns_) {
    probing_ = false;
    base_ns_ = delay_ns;
    base_since_ns_ = now_ns;
  } else if (!probing_ && now_ns - base_since_ns_ > BaseLife_ns) {
    probing_ = true;
    probe_until_ns_ = now_ns + 2 * round_trip_ns_;
  }
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
  window_ += starting_ ? acked : static_cast<double>(chunk()) * acked / window_;
  window_ = std::min(window_, static_cast<double>(Most));
}

}  // namespace gt::wire
