// Sharing out the pieces; sleeping and waking.
#include "transport/staging/copy_threads.h"

#include <sched.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include "traces/base/clock.h"
#include "transport/memory/pin.h"
#include "transport/staging/futex.h"
#include "transport/staging/program_faults.h"
#include "transport/staging/thread.h"

namespace gt::staging {
namespace {

// 4 to 16 us of one core: small enough to share out evenly.
constexpr size_t SmallestPiece = size_t{32} << 10, LargestPiece = size_t{128} << 10;
constexpr size_t MostPieces = 64;
constexpr uint64_t Spin_ns = 30'000;              // about what waking a sleeper costs
constexpr size_t WakeFrom = 4;  // pieces; smaller copies end before a sleeper is awake

// Stores that fetch no cache line first and leave none behind.
void copy_streaming(char* to, const char* from, size_t n) {
#if defined(__x86_64__)
  const size_t head = std::min(n, (16 - reinterpret_cast<uintptr_t>(to) % 16) % 16);
  std::memcpy(to, from, head);
  to += head, from += head, n -= head;
  const auto load = [&](size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)); };
  const auto store = [&](size_t at, __m128i v) { _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), v); };
  for (; n >= 64; n -= 64, to += 64, from += 64) {  // one cache line
    const __m128i a = load(0), b = load(16), c = load(32), d = load(48);
    store(0, a), store(16, b), store(32, c), store(48, d);
  }
  std::memcpy(to, from, n);
  _mm_sfence();
#else
  std::memcpy(to, from, n);
#endif
}

void copy_bytes(bool streaming, char* to, const char* from, size_t n) {
  if (streaming)
    copy_streaming(to, from, n);
  else
    std::memcpy(to, from, n);
}

// Linux 5.14 does it in one call; before, every page is written with what is in it, which is safe beside others'
// writes.
void make_present(char* base, size_t bytes) {
  constexpr int PopulateWrite = 23;  // MADV_POPULATE_WRITE
  const uintptr_t page = 4095;
  char* const first = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(base) & ~page);
  const size_t whole = static_cast<size_t>(base + bytes - first);
  if (::madvise(first, (whole + page) & ~page, PopulateWrite) == 0) return;
  for (size_t i = 0; i < bytes; i += page + 1) __atomic_fetch_add(base + i, 0, __ATOMIC_RELAXED);
}

bool is_from(Programs p) { return (static_cast<uint8_t>(p) & static_cast<uint8_t>(Programs::From)) != 0; }
bool is_to(Programs p) { return (static_cast<uint8_t>(p) & static_cast<uint8_t>(Programs::To)) != 0; }

// A copy in pieces of about the same size: runs of bytes, or of rows. Runs of bytes end where pages of the program's
// do, so that each of these is touched by one thread only.
class CutCopy {
 public:
  explicit CutCopy(const Copy& what) : w(what) {
    const size_t rows = w.rows * w.slices, bytes = w.row_bytes * rows;
    const size_t piece = std::max(std::clamp(bytes / 16, SmallestPiece, LargestPiece), bytes / MostPieces + 1);
    unit_ = rows == 1 ? piece : (piece + w.row_bytes - 1) / w.row_bytes;
  }
  uint32_t count() const { return static_cast<uint32_t>((units() + unit_ - 1) / unit_); }
  // Before pieces are shared out.
  void look_for_handler() { handled_ = w.programs != Programs::Neither && faults_are_handled(); }

  bool run(uint32_t piece, bool others_work) const {
    if (others_work && handled_ && !is_there(piece)) return false;
    const size_t first = begin(piece), end = begin(piece + 1);
    if (is_run()) return copy_bytes(w.streaming, w.to + first, w.from + first, end - first), true;
    for (size_t i = first; i < end; ++i)
      copy_bytes(w.streaming, w.to + to_offset(i), w.from + from_offset(i), w.row_bytes);
    return true;
  }

 private:
  bool is_run() const { return w.rows * w.slices == 1; }
  size_t units() const { return is_run() ? w.row_bytes : w.rows * w.slices; }
  size_t begin(uint32_t piece) const {
    const size_t at = piece * unit_;
    if (at == 0 || at >= units() || !is_run()) return std::min(at, units());
    const char* const side = is_from(w.programs) ? w.from : w.to;
    return at - reinterpret_cast<uintptr_t>(side + at) % FaultPage;
  }
  size_t to_offset(size_t row) const { return row % w.rows * w.to_row_pitch + row / w.rows * w.to_slice_pitch; }
  size_t from_offset(size_t row) const { return row % w.rows * w.from_row_pitch + row / w.rows * w.from_slice_pitch; }

  // Without what lies between rows, which need not even be memory: rows that are far apart are taken for missing.
  bool is_there(uint32_t piece) const {
    const size_t first = begin(piece), end = begin(piece + 1);
    if (is_run())
      return (!is_from(w.programs) || is_readable(w.from + first, end - first)) &&
             (!is_to(w.programs) || is_writable(w.to + first, end - first));
    return (!is_from(w.programs) || is_dense(w.from_row_pitch, w.from_slice_pitch)) &&
           (!is_to(w.programs) || is_dense(w.to_row_pitch, w.to_slice_pitch)) &&
           (!is_from(w.programs) ||
            is_readable(w.from + from_offset(first), from_offset(end - 1) + w.row_bytes - from_offset(first))) &&
           (!is_to(w.programs) ||
            is_writable(w.to + to_offset(first), to_offset(end - 1) + w.row_bytes - to_offset(first)));
  }
  bool is_dense(size_t row_pitch, size_t slice_pitch) const {
    const size_t rows_end = (w.rows - 1) * row_pitch + w.row_bytes;
    return (w.rows == 1 || row_pitch - w.row_bytes < FaultPage) &&
           (w.slices == 1 || slice_pitch - rows_end < FaultPage);
  }

  const Copy& w;
  size_t unit_;  // bytes, or rows
  bool handled_ = false;
};

struct Range {
  char* base;
  size_t bytes, piece_bytes;

  uint32_t count() const { return static_cast<uint32_t>((bytes + piece_bytes - 1) / piece_bytes); }
  void populate(uint32_t piece) const {
    const size_t first = piece * piece_bytes;
    make_present(base + first, std::min(piece_bytes, bytes - first));
  }
};

uint64_t all_pieces(uint32_t count) { return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void CopyThreads::start(unsigned helpers, IdleProcessors idle) noexcept {
  stop_.store(false);
  idle_ = idle;
  while (helpers_ < std::min(helpers, MaxHelpers) &&
         start_thread("gtrace-copy", helper, this, &threads_[helpers_]))
    ++helpers_;
}

void CopyThreads::stop() noexcept {
  if (helpers_ == 0) return;
  stop_.store(true);
  epoch_.fetch_add(1);
  wake(epoch_, MaxHelpers);
  for (unsigned i = 0; i < helpers_; ++i) ::pthread_join(threads_[i], nullptr);
  helpers_ = 0;
}

void* CopyThreads::helper(void* copy_threads) {
  if (thread_begins) thread_begins();
  auto* self = static_cast<CopyThreads*>(copy_threads);
  self->help(self->numbers_.fetch_add(1) + 1);
  return nullptr;
}

void CopyThreads::help(unsigned number) noexcept {
  while (!stop_.load(std::memory_order_relaxed)) {
    const uint32_t seen = epoch_.load(std::memory_order_acquire);
    if (!help_once(number)) wait_for_work(seen);
  }
}

// Works on every open job. False: there was none with a piece left.
bool CopyThreads::help_once(unsigned number) noexcept {
  bool helped = false;
  for (Job& job : jobs_) {
    if (!job.open.load(std::memory_order_relaxed)) continue;
    // Announced before `open` is looked at again: claim() sees one or the other (both sequentially consistent).
    job.inside.fetch_add(1);
    if (job.open.load() && job.taken.load(std::memory_order_relaxed) != all_pieces(job.pieces.count)) {
      helped_.fetch_add(work(job, number), std::memory_order_relaxed);
      helped = true;
    }
    job.inside.fetch_sub(1, std::memory_order_release);
  }
  return helped;
}

void CopyThreads::wait_for_work(uint32_t seen) noexcept {
  const uint64_t end = monotonic_ns() + Spin_ns;
  for (unsigned i = 1;; ++i) {
    if (epoch_.load(std::memory_order_acquire) != seen) return;
    relax();
    if (i % 64 == 0 && monotonic_ns() > end) break;
  }
  sleepers_.fetch_add(1);
  wait_while(epoch_, seen);  // returns at once when the epoch has moved on
  sleepers_.fetch_sub(1);
}

// A job that nobody looks at, or nullptr.
CopyThreads::Job* CopyThreads::claim() noexcept {
  for (Job& job : jobs_) {
    if (job.claimed.exchange(true, std::memory_order_acquire)) continue;
    if (job.inside.load() == 0) return &job;
    job.claimed.store(false, std::memory_order_release);
  }
  return nullptr;
}

// Those for whom there is a processor.
unsigned CopyThreads::welcome_helpers() const noexcept {
  if (!idle_ || helpers_ == 0) return helpers_;
  const unsigned awake = helpers_ - std::min(helpers_, sleepers_.load(std::memory_order_relaxed));
  const unsigned idle = idle_(awake + 1);
  return std::min(helpers_, idle > 0 ? idle - 1 : 0);
}

void CopyThreads::call_helpers(uint32_t most) noexcept {
  epoch_.fetch_add(1);
  const uint32_t sleepers = sleepers_.load();
  if (sleepers > 0 && most > 0) wake(epoch_, std::min(sleepers, most));
}

// How many pieces were done.
uint32_t CopyThreads::work(Job& job, unsigned number) const noexcept {
  const uint32_t count = job.pieces.count;
  uint32_t own = 0;
  const unsigned first = number * count / (helpers_ + 1);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned piece = (first + i) % count;
    const uint64_t bit = uint64_t{1} << piece;
    if (job.taken.load(std::memory_order_relaxed) & bit || job.taken.fetch_or(bit, std::memory_order_relaxed) & bit)
      continue;
    if (!job.pieces.run(job.pieces.what, piece, true)) job.left.fetch_or(bit, std::memory_order_relaxed);
    job.done.fetch_add(1, std::memory_order_release);
    ++own;
  }
  return own;
}

// Returns when every piece is done.
void CopyThreads::share(const Pieces& pieces) noexcept {
  const unsigned helpers = pieces.count > 1 ? welcome_helpers() : 0;
  Job* const job = helpers > 0 ? claim() : nullptr;
  if (!job) {
    for (uint32_t i = 0; i < pieces.count; ++i) pieces.run(pieces.what, i, false);
    return;
  }
  job->pieces = pieces;
  job->taken.store(0, std::memory_order_relaxed);
  job->left.store(0, std::memory_order_relaxed);
  job->done.store(0, std::memory_order_relaxed);
  job->open.store(true);
  call_helpers(pieces.count >= WakeFrom ? std::min(helpers, pieces.count - 1) : 0);
  work(*job, 0);
  for (unsigned i = 1; job->done.load(std::memory_order_acquire) < pieces.count; ++i)
    i % 1024 == 0 ? static_cast<void>(::sched_yield()) : relax();  // a helper may have lost its processor
  const uint64_t left = job->left.load(std::memory_order_relaxed);
  job->open.store(false);
  job->claimed.store(false, std::memory_order_release);
  for (uint64_t bits = left; bits != 0; bits &= bits - 1)
    pieces.run(pieces.what, static_cast<uint32_t>(std::countr_zero(bits)), false);
}

void CopyThreads::copy(const Copy& what) noexcept {
  if (what.row_bytes == 0 || what.rows == 0 || what.slices == 0) return;
  CutCopy cut(what);
  if (helpers_ > 0 && cut.count() > 1) cut.look_for_handler();
  share({cut.count(),
         [](const void* c, uint32_t piece, bool others_work) {
           return static_cast<const CutCopy*>(c)->run(piece, others_work);
         },
         &cut});
}

void CopyThreads::populate(char* base, size_t bytes) noexcept {
  const size_t huge_pages = bytes / MostPieces / memory::HugePage + 1;
  const Range range{base, bytes, huge_pages * memory::HugePage};
  share({range.count(),
         [](const void* r, uint32_t piece, bool) { return static_cast<const Range*>(r)->populate(piece), true; },
         &range});
}

}  // namespace gt::staging
