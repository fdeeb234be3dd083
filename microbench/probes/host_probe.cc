// First touch and parallel copies.
#include "microbench/probes/host_probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "traces/model/curves/curve_fit.h"

namespace gt::bench {
namespace {

constexpr uint64_t CopyBytes = 128 << 20;  // more than most processors' caches
constexpr uint64_t LeastCopyBytes = 1 << 20;
constexpr size_t PageBytes = 4096;
constexpr double TouchShare = 0.5;  // of the time

// Pages that nobody has touched.
class Fresh {
 public:
  explicit Fresh(uint64_t bytes) : x_bytes(bytes) {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    x_data = p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  }
  ~Fresh() {
    if (x_data) ::munmap(x_data, x_bytes);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  char* data() const { return x_data; }

 private:
  char* x_data = nullptr;
  uint64_t x_bytes;
};

Status first_touch(const std::vector<uint64_t>& sizes, const Pace& pace, HostResult& out) {
  Series series{"first touch", "host", {}};
  uint64_t size = 0;
  const auto turn = [&]() -> Status {
    const Fresh pages(size);
    if (!pages.data()) return Status(Kind::Unsupported, "no memory", ENOMEM);
    const double start = now_ns();
    for (uint64_t at = 0; at < size; at += PageBytes) static_cast<volatile char*>(pages.data())[at] = 1;
    series.add(size, now_ns() - start);
    return {};
  };
  Probe probe{[&](uint64_t bytes) { return size = bytes, Status(); }, turn, {&series}};
  std::vector<uint64_t> pages;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(pages), [](uint64_t s) { return s >= PageBytes; });
  GT_TRY(sweep({&probe, 1}, pages, pace));
  if (series.samples.empty()) return {};
  out.costs.first_touch = model::fit_curve(series.samples);
  out.series.push_back(std::move(series));
  return {};
}

// Threads that wait until they are asked to copy their part. Fewer than asked for where the system gives no more.
class Copiers {
 public:
  Copiers(uint32_t count, char* to, const char* from, uint64_t bytes) : x_to(to), x_from(from), x_bytes(bytes) {
    try {
      while (x_threads.size() < count) x_threads.emplace_back(&Copiers::work, this, x_threads.size());
    } catch (const std::system_error&) {
    }
  }
  ~Copiers() {
    ask(true);
    for (std::thread& t : x_threads) t.join();
  }
  uint32_t count() const { return static_cast<uint32_t>(x_threads.size()); }

  double copy_ns() {
    const double start = now_ns();
    ask(false);
    std::unique_lock lock(x_mutex);
    x_done.wait(lock, [this] { return x_busy == 0; });
    return now_ns() - start;
  }

 private:
  void ask(bool over) {
    const std::lock_guard lock(x_mutex);
    x_over = over;
    x_busy = x_threads.size();
    ++x_round;
    x_asked.notify_all();
  }

  void work(size_t index) {
    uint64_t seen = 0;
    while (true) {
      size_t parts = 0;
      {
        std::unique_lock lock(x_mutex);
        x_asked.wait(lock, [&] { return x_round != seen; });
        seen = x_round;
        if (x_over) return;
        parts = x_threads.size();
      }
      const uint64_t part = x_bytes / parts, begin = part * index;
      std::memcpy(x_to + begin, x_from + begin, index + 1 == parts ? x_bytes - begin : part);
      const std::lock_guard lock(x_mutex);
      if (--x_busy == 0) x_done.notify_one();
    }
  }

  char* const x_to;
  const char* const x_from;
  const uint64_t x_bytes;
  std::mutex x_mutex;  // of all below but the vector, which only grows before the first round
  std::condition_variable x_asked, x_done;
  uint64_t x_round = 0;
  size_t x_busy = 0;
  bool x_over = false;
  std::vector<std::thread> x_threads;
};

// 1, 2, 4, ..., and all.
std::vector<uint32_t> thread_counts(uint32_t most) {
  std::vector<uint32_t> out;
  for (uint32_t n = 1; n < most; n *= 2) out.push_back(n);
  out.push_back(std::max<uint32_t>(most, 1));
  return out;
}

Status copy_threads(uint64_t most, uint32_t threads, const Pace& pace, HostResult& out) {
  const uint64_t bytes = std::min(CopyBytes, most / 2);
  if (bytes < LeastCopyBytes) return {};
  const Fresh from(bytes), to(bytes);
  if (!from.data() || !to.data()) return {};
  std::memset(from.data(), 1, bytes);
  std::memset(to.data(), 1, bytes);
  const std::vector<uint32_t> counts = thread_counts(threads);
  Pace part = pace;
  part.budget_s = pace.budget_s / static_cast<double>(counts.size());
  for (const uint32_t n : counts) {
    Copiers copiers(n, to.data(), from.data(), bytes);
    if (copiers.count() < n) break;
    const auto median = measure([&]() -> Result<double> { return copiers.copy_ns(); }, part);
    if (!median) return median.status();
    out.costs.copy_threads.push_back({n, static_cast<double>(bytes) / median->value * 1e9});
  }
  return {};
}

}  // namespace

Result<HostResult> measure_host(const std::vector<uint64_t>& sizes, uint64_t most, uint32_t threads, const Pace& pace) {
  HostResult out;
  Pace touching = pace, copying = pace;
  touching.budget_s = pace.budget_s * TouchShare;
  copying.budget_s = pace.budget_s - touching.budget_s;
  GT_TRY(first_touch(sizes, touching, out));
  GT_TRY(copy_threads(most, threads, copying, out));
  return out;
}

}  // namespace gt::bench
