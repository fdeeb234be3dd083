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
      : x_session(session), x_kernels(session), x_bytes(bytes), x_pace(pace) {}

  Result<Roofline> run() {
    Result<Mem> in = x_session.buffer(x_bytes), out = x_session.buffer(64);
    if (!in) return in.status();
    if (!out) return out.status();
    x_in = std::move(*in), x_out = std::move(*out);
    const float one = 1;
    GT_TRY(cl_status("clEnqueueFillBuffer", clEnqueueFillBuffer(x_session.queue(), x_in.get(), &one, sizeof one, 0,
                                                                x_bytes, 0, nullptr, nullptr)));
    Roofline r;
    const auto reading = time([&] { return x_kernels.launch_reading(x_in.get(), x_out.get(), x_bytes, 0); });
    if (!reading) return reading.status();
    r.bytes_per_s = static_cast<double>(x_bytes) / reading->value * 1e9;
    GT_TRY(find_peak(r));
    for (int fma = 1; fma <= MostFma; fma *= 2) GT_TRY(add(fma, r));
    return r;
  }

 private:
  static constexpr double Parts = 14;

  // Doubles the work until a launch takes long enough to tell.
  Status find_peak(Roofline& r) {
    uint64_t bytes = LeastBytes / 16;
    const auto launch = [&] { return x_kernels.launch_computing(x_out.get(), bytes, PeakFma); };
    for (; bytes < x_bytes; bytes *= 2) {
      const double start = now_ns();
      GT_TRY(launch());
      GT_TRY(x_session.finish());
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
    const uint64_t bytes = std::clamp(static_cast<uint64_t>(fits) / LeastBytes * LeastBytes, LeastBytes, x_bytes);
    const auto t = time([&] { return x_kernels.launch_reading(x_in.get(), x_out.get(), bytes, fma); });
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
    GT_TRY(x_session.finish());
    x_pace.progress(x_done++ / Parts);
    return measure([&]() -> Result<double> {
      const double start = now_ns();
      GT_TRY(launch());
      GT_TRY(x_session.finish());
      return now_ns() - start;
    }, {x_pace.budget_s / Parts, x_pace.goal});
  }

  const Session& x_session;
  Kernels x_kernels;
  uint64_t x_bytes;
  const Pace& x_pace;
  double x_done = 0;
  Mem x_in, x_out;
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
