// Four kinds of work at growing sizes; the best of each.
#include "microbench/probes/limit_probe.h"

#include <algorithm>
#include <cstring>

#include "microbench/probes/kernels.h"

namespace gt::bench {
namespace {

constexpr uint64_t Smallest = 4, FirstRate = 64 << 10;
constexpr int Row = 32;                          // commands that are waited for together
constexpr uint64_t MostInRow = 256 << 20;       // bytes: larger work comes in shorter rows

class LimitProbe {
 public:
  LimitProbe(const Session& session, uint64_t most, bool quick, const Pace& pace)
      : x_session(session), x_pace(pace), x_growth(quick ? 16 : 4) {
    for (uint64_t size = Smallest; size <= most; size = size < FirstRate ? FirstRate : size * x_growth)
      x_sizes.push_back(size);
    x_parts = static_cast<double>(x_sizes.size() * WorkCount * 2);
    x_end_ns = now_ns() + pace.budget_s * 1e9;
  }

  Result<LimitTable> run() {
    LimitTable table;
    double size_ns = 0;  // how long the size before took
    for (const uint64_t size : x_sizes) {
      const double start = now_ns(), growth = size > FirstRate * 16 ? x_growth : 1;
      if (start + size_ns * growth > x_end_ns) break;
      const Status ready = prepare(size);
      if (ready.kind() == Kind::Unsupported && size > Smallest) break;
      GT_TRY(ready);
      for (size_t w = 0; w < WorkCount; ++w)
        for (const bool sync : {true, false})
          GT_TRY(add(static_cast<Work>(w), sync, size, sync ? table[w].sync : table[w].async));
      size_ns = now_ns() - start;
    }
    return table;
  }

 private:
  Status prepare(uint64_t bytes) {
    for (Mem& m : x_buffers) {
      m.reset();
      Result<Mem> made = x_session.buffer(bytes);
      if (!made) return made.status();
      m = std::move(*made);
    }
    x_host.reset();
    Result<memory::HostBlock> block = memory::HostBlock::make(x_session.place(), model::Policy::OpenCl, bytes);
    if (!block) return Status(Kind::Unsupported, block.status().text());
    x_host.emplace(std::move(*block));
    for (Mem& m : x_buffers) GT_TRY(x_session.write(m.get(), x_host->data(), bytes));
    return {};
  }

  // Measures, and keeps what is better than what was known.
  Status add(Work work, bool sync, uint64_t bytes, std::optional<Limit>& best) {
    const int count = sync ? 1 : static_cast<int>(std::clamp<uint64_t>(MostInRow / bytes, 2, Row));
    const Status warm = run_row(work, bytes, count);
    if (warm.kind() == Kind::Unsupported) return {};
    GT_TRY(warm);
    Pace part{std::max(x_end_ns - now_ns(), 0.0) * 1e-9 / (x_parts - x_done), x_pace.goal};
    x_pace.progress(x_done++ / x_parts);
    const auto time = measure([&]() -> Result<double> {
      const double start = now_ns();
      GT_TRY(run_row(work, bytes, count));
      return (now_ns() - start) / count;
    }, part);
    if (!time) return time.status();
    const double rate = static_cast<double>(bytes) / time->value * 1e9;
    if (!best) best = Limit{time->value, rate};
    best->latency_ns = std::min(best->latency_ns, time->value);
    best->bytes_per_s = std::max(best->bytes_per_s, rate);
    return {};
  }

  Status run_row(Work work, uint64_t bytes, int count) {
    for (int i = 0; i < count; ++i) GT_TRY(enqueue(work, bytes));
    return x_session.finish();
  }

  Status enqueue(Work work, uint64_t bytes) {
    const cl_command_queue queue = x_session.queue();
    const cl_mem a = x_buffers[0].get(), b = x_buffers[1].get();
    switch (work) {
      case Work::HtoD:
        return cl_status("clEnqueueWriteBuffer",
                         clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, bytes, x_host->data(), 0, nullptr, nullptr));
      case Work::DtoH:
        return cl_status("clEnqueueReadBuffer",
                         clEnqueueReadBuffer(queue, a, CL_FALSE, 0, bytes, x_host->data(), 0, nullptr, nullptr));
      case Work::DtoD:
        return cl_status("clEnqueueCopyBuffer",
                         clEnqueueCopyBuffer(queue, a, b, 0, 0, bytes, 0, nullptr, nullptr));
      default:
        return bytes < FirstRate ? x_kernels.launch_empty(b) : x_kernels.launch_reading(a, b, bytes, 0);
    }
  }

  const Session& x_session;
  const Pace& x_pace;
  const unsigned x_growth;  // from one size to the next
  Kernels x_kernels{x_session};
  std::vector<uint64_t> x_sizes;
  double x_parts = 1, x_done = 0, x_end_ns = 0;
  Mem x_buffers[2];
  std::optional<memory::HostBlock> x_host;
};

}  // namespace

Result<LimitTable> measure_limits(const Session& session, uint64_t most, bool quick, const Pace& pace) {
  return LimitProbe(session, most, quick, pace).run();
}

}  // namespace gt::bench
