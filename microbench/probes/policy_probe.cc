// One turn makes a block under the policy (timed), transfers it both ways some times (timed, after one untimed
// transfer), then in windows, and releases it (timed with the making).
#include "microbench/probes/policy_probe.h"

#include <malloc.h>

#include <algorithm>

#include "traces/model/curves/curve_fit.h"

namespace gt::bench {
namespace {

using memory::HostBlock;
using model::Policy;
using model::PolicyCount;

constexpr uint64_t ManyUpTo = 4 << 20;  // bytes: larger transfers are timed fewer times a turn
constexpr double NoiseFrom = 64 << 10;  // bytes: below, call costs dominate and no policy differs

// Of the sizes at which policies can differ: three quarters of their medians are known at least so well.
double noise_of(const Series& series) {
  std::vector<double> noises;
  for (const model::SizeMedian& m : model::medians_of(series.samples))
    if (m.size >= NoiseFrom) noises.push_back(m.time.noise());
  std::sort(noises.begin(), noises.end());
  return noises.empty() ? 0 : std::min(model::statistics::quantile(noises, 0.75), 1.0);
}

}  // namespace

PolicyProbe::PolicyProbe(const Session& session, uint64_t window_bytes)
    : session_(session), window_bytes_(window_bytes) {
  for (size_t p = 0; p < PolicyCount; ++p) {
    const std::string name(model::PolicyNames[p]);
    samples_[p] = {{"allocation", name, {}}, {"h2d", name, {}},        {"d2h", name, {}},
                    {"h2d window", name, {}}, {"d2h window", name, {}}};
  }
  // Large blocks come from mmap each time, as in a program's first allocation; the C library would otherwise learn from
  // our frees and hand out touched memory.
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

std::vector<Probe> PolicyProbe::probes() {
  std::vector<Probe> out;
  for (size_t p = 0; p < PolicyCount; ++p) {
    const Samples& s = samples_[p];
    out.push_back({[this](uint64_t bytes) { return prepare(bytes); },
                   [this, p] { return turn(static_cast<Policy>(p)); },
                   {&s.allocation, &s.h2d, &s.d2h}});
  }
  return out;
}

Status PolicyProbe::prepare(uint64_t bytes) {
  if (bytes == bytes_ && buffer_) return {};  // all policies share it
  buffer_.reset();
  bytes_ = bytes;
  Result<Mem> made = session_.buffer(bytes);
  if (!made) return made.status();
  buffer_ = std::move(*made);
  return {};
}

Status PolicyProbe::turn(Policy policy) {
  Samples& out = samples_[static_cast<size_t>(policy)];
  const double start = now_ns();
  Result<HostBlock> made = HostBlock::make(session_.place(), policy, bytes_);
  const double making = now_ns() - start;
  if (!made) return Status(Kind::Unsupported, made.status().text(), made.status().code());
  double release = 0;
  {
    const HostBlock block = std::move(*made);
    GT_TRY(transfers(block, out));
    release = now_ns();
  }
  out.allocation.add(bytes_, making + now_ns() - release);
  return {};
}

Status PolicyProbe::transfers(const HostBlock& block, Samples& out) {
  const auto timed = [&](const auto& transfer, Series* series) -> Status {
    const double start = now_ns();
    GT_TRY(transfer());
    if (series) series->add(bytes_, now_ns() - start);
    return {};
  };
  const int repeats = bytes_ < ManyUpTo ? 5 : 2;
  for (int i = 0; i <= repeats; ++i) {  // the first ones are warm-up: pages, pins and caches
    GT_TRY(timed([&] { return session_.write(buffer_.get(), block.data(), bytes_); }, i ? &out.h2d : nullptr));
    GT_TRY(timed([&] { return session_.read(buffer_.get(), block.data(), bytes_); }, i ? &out.d2h : nullptr));
  }
  if (bytes_ > window_bytes_) return {};
  GT_TRY(window(block, true, out.h2d_window));
  return window(block, false, out.d2h_window);
}

Status PolicyProbe::window(const HostBlock& block, bool to_device, Series& out) {
  const double start = now_ns();
  for (int i = 0; i < WindowTransfers; ++i) {
    GT_TRY(to_device ? cl_status("clEnqueueWriteBuffer",
                                 clEnqueueWriteBuffer(session_.queue(), buffer_.get(), CL_FALSE, 0, bytes_,
                                                      block.data(), 0, nullptr, nullptr))
                     : cl_status("clEnqueueReadBuffer",
                                 clEnqueueReadBuffer(session_.queue(), buffer_.get(), CL_FALSE, 0, bytes_,
                                                     block.data(), 0, nullptr, nullptr)));
  }
  GT_TRY(session_.finish());
  out.add(bytes_, (now_ns() - start) / WindowTransfers);
  return {};
}

void PolicyProbe::fill(model::DeviceCosts& costs, const std::vector<Probe>& probes) const {
  for (size_t p = 0; p < PolicyCount; ++p) {
    const Samples& s = samples_[p];
    if (s.allocation.samples.empty()) continue;
    model::PolicyCosts c;
    c.allocation = model::fit_curve(s.allocation.samples);
    c.h2d = model::fit_curve(s.h2d.samples);
    c.d2h = model::fit_curve(s.d2h.samples);
    c.max_bytes = probes[p].refused ? probes[p].largest : 0;
    c.noise = std::max(noise_of(s.h2d), noise_of(s.d2h));
    if (!s.h2d_window.samples.empty() && !s.d2h_window.samples.empty())
      c.window = {model::fit_curve(s.h2d_window.samples), model::fit_curve(s.d2h_window.samples)};
    costs.policies[p] = std::move(c);
  }
}

std::vector<Series> PolicyProbe::series() const {
  std::vector<Series> out;
  for (const Samples& s : samples_)
    for (const Series* one : {&s.allocation, &s.h2d, &s.d2h, &s.h2d_window, &s.d2h_window})
      if (!one->samples.empty()) out.push_back(*one);
  return out;
}

}  // namespace gt::bench
