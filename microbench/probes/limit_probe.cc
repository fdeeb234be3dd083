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
      : session_(session), pace_(pace), growth_(quick ? 16 : 4) {
    for (uint64_t size = Smallest; size <= most; size = size < FirstRate ? FirstRate : size * growth_)
      sizes_.push_back(size);
    parts_ = static_cast<double>(sizes_.size() * WorkCount * 2);
    end_ns_ = now_ns() + pace.budget_s * 1e9;
  }

  Result<LimitTable> run() {
    LimitTable table;
    double size_ns = 0;  // how long the size before took
    for (const uint64_t size : sizes_) {
      const double start = now_ns(), growth = size > FirstRate * 16 ? growth_ : 1;
      if (start + size_ns * growth > end_ns_) break;
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
    for (Mem& m : buffers_) {
      m.reset();
      Result<Mem> made = session_.buffer(bytes);
      if (!made) return made.status();
      m = std::move(*made);
    }
    host_.reset();
    Result<memory::HostBlock> block = memory::HostBlock::make(session_.place(), model::Policy::OpenCl, bytes);
    if (!block) return Status(Kind::Unsupported, block.status().text());
    host_.emplace(std::move(*block));
    for (Mem& m : buffers_) GT_TRY(session_.write(m.get(), host_->data(), bytes));
    return {};
  }

  // Measures, and keeps what is better than what was known.
  Status add(Work work, bool sync, uint64_t bytes, std::optional<Limit>& best) {
    const int count = sync ? 1 : static_cast<int>(std::clamp<uint64_t>(MostInRow / bytes, 2, Row));
    const Status warm = run_row(work, bytes, count);
    if (warm.kind() == Kind::Unsupported) return {};
    GT_TRY(warm);
    Pace part{std::max(end_ns_ - now_ns(), 0.0) * 1e-9 / (parts_ - done_), pace_.goal};
    pace_.progress(done_++ / parts_);
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
    return session_.finish();
  }

  Status enqueue(Work work, uint64_t bytes) {
    const cl_command_queue queue = session_.queue();
    const cl_mem a = buffers_[0].get(), b = buffers_[1].get();
    switch (work) {
      case Work::HtoD:
        return cl_status("clEnqueueWriteBuffer",
                         clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, bytes, host_->data(), 0, nullptr, nullptr));
      case Work::DtoH:
        return cl_status("clEnqueueReadBuffer",
                         clEnqueueReadBuffer(queue, a, CL_FALSE, 0, bytes, host_->data(), 0, nullptr, nullptr));
      case Work::DtoD:
        return cl_status("clEnqueueCopyBuffer",
                         clEnqueueCopyBuffer(queue, a, b, 0, 0, bytes, 0, nullptr, nullptr));
      default:
        return bytes < FirstRate ? kernels_.launch_empty(b) : kernels_.launch_reading(a, b, bytes, 0);
    }
  }

  const Session& session_;
  const Pace& pace_;
  const unsigned growth_;  // from one size to the next
  Kernels kernels_{session_};
  std::vector<uint64_t> sizes_;
  double parts_ = 1, done_ = 0, end_ns_ = 0;
  Mem buffers_[2];
  std::optional<memory::HostBlock> host_;
};

}  // namespace

Result<LimitTable> measure_limits(const Session& session, uint64_t most, bool quick, const Pace& pace) {
  return LimitProbe(session, most, quick, pace).run();
}

}  // namespace gt::bench
