// Bandwidth, peak, then twelve intensities.
#include "microbench/probes/roofline_probe.h"

#include <algorithm>

#include "microbench/base/free_memory.h"
#include "microbench/probes/kernels.h"

namespace gt::bench {
namespace {

constexpr uint64_t CpuBytes = 128 << 20;            // more than caches hold
constexpr uint64_t OtherBytes = uint64_t{2} << 30;  // and more than a launch hides
constexpr uint64_t LeastBytes = 4 << 20;            // still enough work-items for every device
constexpr int MostFma = 2048, PeakFma = 4096;
constexpr double LaunchTarget_s = 0.03;  // a launch; longer ones read less

class RooflineProbe {
 public:
  RooflineProbe(const Session& session, uint64_t bytes, const Pace& pace)
      : session_(session), kernels_(session), bytes_(bytes), pace_(pace) {}

  Result<Roofline> run() {
    Result<Mem> in = session_.buffer(bytes_), out = session_.buffer(64);
    if (!in) return in.status();
    if (!out) return out.status();
    in_ = std::move(*in), out_ = std::move(*out);
    const float one = 1;
    GT_TRY(cl_status("clEnqueueFillBuffer", clEnqueueFillBuffer(session_.queue(), in_.get(), &one, sizeof one, 0,
                                                                bytes_, 0, nullptr, nullptr)));
    Roofline r;
    const auto reading = time([&] { return kernels_.launch_reading(in_.get(), out_.get(), bytes_, 0); });
    if (!reading) return reading.status();
    r.bytes_per_s = static_cast<double>(bytes_) / reading->value * 1e9;
    GT_TRY(find_peak(r));
    for (int fma = 1; fma <= MostFma; fma *= 2) GT_TRY(add(fma, r));
    return r;
  }

 private:
  static constexpr double Parts = 14;

  // Doubles the work until a launch takes long enough to tell.
  Status find_peak(Roofline& r) {
    uint64_t bytes = LeastBytes / 16;
    const auto launch = [&] { return kernels_.launch_computing(out_.get(), bytes, PeakFma); };
    for (; bytes < bytes_; bytes *= 2) {
      const double start = now_ns();
      GT_TRY(launch());
      GT_TRY(session_.finish());
      if (now_ns() - start > LaunchTarget_s * 1e9 / 2) break;
    }
    const auto computing = time(launch);
    if (!computing) return computing.status();
    r.flops_per_s = operations(bytes, PeakFma) / computing->value * 1e9;
    return {};
  }

  Status add(int fma, Roofline& r) {
    // As much as can be done in the time that is meant; caches may hold less, but then it is not memory that limits.
    const double fits = LaunchTarget_s * r.predicted(fma) / (2.0 * fma) * sizeof(float);
    const uint64_t bytes = std::clamp(static_cast<uint64_t>(fits) / LeastBytes * LeastBytes, LeastBytes, bytes_);
    const auto t = time([&] { return kernels_.launch_reading(in_.get(), out_.get(), bytes, fma); });
    if (!t) return t.status();
    const double work = operations(bytes, fma) * 1e9;
    r.points.push_back({fma, work / t->value, work / t->high, work / t->low});
    return {};
  }

  static double operations(uint64_t bytes, int fma) {
    return 2.0 * fma * static_cast<double>(bytes) / sizeof(float);
  }

  Result<model::Median> time(const std::function<Status()>& launch) {
    GT_TRY(launch());  // compiles, and warms up
    GT_TRY(session_.finish());
    pace_.progress(done_++ / Parts);
    return measure([&]() -> Result<double> {
      const double start = now_ns();
      GT_TRY(launch());
      GT_TRY(session_.finish());
      return now_ns() - start;
    }, {pace_.budget_s / Parts, pace_.goal});
  }

  const Session& session_;
  Kernels kernels_;
  uint64_t bytes_;
  const Pace& pace_;
  double done_ = 0;
  Mem in_, out_;
};

}  // namespace

double Roofline::predicted(int fma) const {
  return std::min(flops_per_s, bytes_per_s * 2 * fma / static_cast<double>(sizeof(float)));
}

Result<Roofline> measure_roofline(const Session& session, const Pace& pace) {
  const Device& d = session.device();
  const bool ours = d.host_unified || d.type == model::DeviceType::Cpu;  // its memory is the host's
  const uint64_t wanted = d.type == model::DeviceType::Cpu ? CpuBytes : OtherBytes;
  const uint64_t most = std::min({wanted, d.memory_bytes / 8, d.max_buffer_bytes, ours ? free_memory() / 8 : wanted});
  const uint64_t bytes = std::max(LeastBytes, most / LeastBytes * LeastBytes);
  return RooflineProbe(session, bytes, pace).run();
}

}  // namespace gt::bench
