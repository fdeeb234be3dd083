// Sharing out the pieces; sleeping and waking.
#include "transport/staging/copy_crew.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "transport/staging/futex.h"
#include "transport/staging/thread.h"

namespace gt::staging {
namespace {

// 4 to 16 us of one core: small enough to share out evenly.
constexpr size_t SmallestPiece = size_t{32} << 10, LargestPiece = size_t{128} << 10;
constexpr uint64_t Spin_ns = 30'000;              // about what waking a sleeper costs
constexpr size_t WakeFrom = 4;  // pieces; smaller copies end before a sleeper is awake

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

unsigned usable_processors() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

void CopyCrew::start(unsigned helpers) noexcept {
  x_stop.store(false);
  while (x_helpers < std::min(helpers, MaxHelpers) &&
         start_thread("gtrace-copy", helper, this, &x_threads[x_helpers]))
    ++x_helpers;
}

void CopyCrew::stop() noexcept {
  if (x_helpers == 0) return;
  x_stop.store(true);
  x_epoch.fetch_add(1);
  wake(x_epoch, MaxHelpers);
  for (unsigned i = 0; i < x_helpers; ++i) ::pthread_join(x_threads[i], nullptr);
  x_helpers = 0;
}

void CopyCrew::forget() noexcept {
  x_helpers = 0;
  x_sleepers.store(0);
  for (Job& job : x_jobs) {
    job.inside.store(0);
    job.open.store(false);
    job.claimed.store(false);
  }
}

void* CopyCrew::helper(void* crew) {
  if (thread_begins) thread_begins();
  static_cast<CopyCrew*>(crew)->help();
  return nullptr;
}

void CopyCrew::help() noexcept {
  while (!x_stop.load(std::memory_order_relaxed)) {
    const uint32_t seen = x_epoch.load(std::memory_order_acquire);
    if (!help_once()) wait_for_work(seen);
  }
}

// Works on every open job. False: there was none with a piece left.
bool CopyCrew::help_once() noexcept {
  bool helped = false;
  for (Job& job : x_jobs) {
    if (!job.open.load(std::memory_order_relaxed)) continue;
    // Announced before `open` is looked at again: claim() sees one or the other (both sequentially consistent).
    job.inside.fetch_add(1);
    if (job.open.load() && job.next.load(std::memory_order_relaxed) < job.pieces) {
      work(job);
      helped = true;
    }
    job.inside.fetch_sub(1, std::memory_order_release);
  }
  return helped;
}

void CopyCrew::wait_for_work(uint32_t seen) noexcept {
  const uint64_t end = now_ns() + Spin_ns;
  for (unsigned i = 1;; ++i) {
    if (x_epoch.load(std::memory_order_acquire) != seen) return;
    relax();
    if (i % 64 == 0 && now_ns() > end) break;
  }
  x_sleepers.fetch_add(1);
  wait_while(x_epoch, seen);  // returns at once when the epoch has moved on
  x_sleepers.fetch_sub(1);
}

// A job that nobody looks at, or nullptr.
CopyCrew::Job* CopyCrew::claim() noexcept {
  for (Job& job : x_jobs) {
    if (job.claimed.exchange(true, std::memory_order_acquire)) continue;
    if (job.inside.load() == 0) return &job;
    job.claimed.store(false, std::memory_order_release);
  }
  return nullptr;
}

void CopyCrew::call_helpers(uint32_t pieces) noexcept {
  x_epoch.fetch_add(1);
  const uint32_t sleepers = x_sleepers.load();
  if (sleepers > 0 && pieces >= WakeFrom) wake(x_epoch, std::min(sleepers, pieces - 1));
}

void CopyCrew::cut(Job& job) noexcept {
  const Copy& w = job.what;
  const size_t rows = w.rows * w.slices;
  const size_t piece = std::clamp(w.row_bytes * rows / 16, SmallestPiece, LargestPiece);
  if (rows == 1) {
    job.piece_rows = 0;
    job.piece_bytes = piece;
    job.pieces = static_cast<uint32_t>((w.row_bytes + piece - 1) / piece);
  } else {
    job.piece_bytes = 0;
    job.piece_rows = std::max<size_t>(1, piece / std::max<size_t>(1, w.row_bytes));
    job.pieces = static_cast<uint32_t>((rows + job.piece_rows - 1) / job.piece_rows);
  }
}

void CopyCrew::copy_piece(const Job& job, size_t piece) noexcept {
  const Copy& w = job.what;
  if (job.piece_bytes > 0) {
    const size_t start = piece * job.piece_bytes;
    std::memcpy(w.to + start, w.from + start, std::min(job.piece_bytes, w.row_bytes - start));
    return;
  }
  const size_t end = std::min((piece + 1) * job.piece_rows, w.rows * w.slices);
  for (size_t i = piece * job.piece_rows; i < end; ++i) {
    const size_t row = i % w.rows, slice = i / w.rows;
    std::memcpy(w.to + row * w.to_row_pitch + slice * w.to_slice_pitch,
                w.from + row * w.from_row_pitch + slice * w.from_slice_pitch, w.row_bytes);
  }
}

void CopyCrew::work(Job& job) noexcept {
  for (;;) {
    const uint32_t piece = job.next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= job.pieces) return;
    copy_piece(job, piece);
    job.done.fetch_add(1, std::memory_order_release);
  }
}

void CopyCrew::copy(const Copy& what) noexcept {
  if (what.row_bytes == 0 || what.rows == 0 || what.slices == 0) return;
  Job alone;
  Job* job = x_helpers > 0 ? claim() : nullptr;
  Job& j = job ? *job : alone;
  j.what = what;
  cut(j);
  j.next.store(0, std::memory_order_relaxed);
  j.done.store(0, std::memory_order_relaxed);
  if (!job) return work(j);
  if (j.pieces > 1) {
    j.open.store(true);
    call_helpers(j.pieces);
  }
  work(j);
  for (unsigned i = 1; j.done.load(std::memory_order_acquire) < j.pieces; ++i)
    i % 1024 == 0 ? static_cast<void>(::sched_yield()) : relax();  // a helper may have lost its processor
  j.open.store(false);
  j.claimed.store(false, std::memory_order_release);
}

}  // namespace gt::staging
