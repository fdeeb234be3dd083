// First touch and parallel copies.
#include "microbench/probes/host_probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <system_error>
#include <thread>

#include "traces/base/mutex.h"
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
  explicit Fresh(uint64_t bytes) : bytes_(bytes) {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : static_cast<char*>(p);
  }
  ~Fresh() {
    if (data_) ::munmap(data_, bytes_);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_;
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
  Copiers(uint32_t count, char* to, const char* from, uint64_t bytes) : to_(to), from_(from), bytes_(bytes) {
    try {
      while (threads_.size() < count) threads_.emplace_back(&Copiers::work, this, threads_.size());
    } catch (const std::system_error&) {
    }
  }
  ~Copiers() {
    ask(true);
    for (std::thread& t : threads_) t.join();
  }
  uint32_t count() const { return static_cast<uint32_t>(threads_.size()); }

  double copy_ns() {
    const double start = now_ns();
    ask(false);
    UniqueLock lock(mutex_);
    done_.wait(lock, [this]() GT_REQUIRES(mutex_) { return busy_ == 0; });
    return now_ns() - start;
  }

 private:
  void ask(bool over) {
    const MutexLock lock(mutex_);
    over_ = over;
    busy_ = threads_.size();
    ++round_;
    asked_.notify_all();
  }

  void work(size_t index) {
    uint64_t seen = 0;
    while (true) {
      size_t parts = 0;
      {
        UniqueLock lock(mutex_);
        asked_.wait(lock, [&]() GT_REQUIRES(mutex_) { return round_ != seen; });
        seen = round_;
        if (over_) return;
        parts = threads_.size();
      }
      const uint64_t part = bytes_ / parts, begin = part * index;
      std::memcpy(to_ + begin, from_ + begin, index + 1 == parts ? bytes_ - begin : part);
      const MutexLock lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  char* const to_;
  const char* const from_;
  const uint64_t bytes_;
  Mutex mutex_;
  std::condition_variable asked_, done_;
  uint64_t round_ GT_GUARDED_BY(mutex_) = 0;
  size_t busy_ GT_GUARDED_BY(mutex_) = 0;
  bool over_ GT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // only grows before the first round
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
