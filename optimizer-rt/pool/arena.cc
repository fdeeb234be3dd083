// Reserving and growing an arena.
#include "optimizer-rt/pool/arena.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr size_t GrowStep = size_t{32} << 20;  // few, large mprotect calls
constexpr int Usual = PROT_READ | PROT_WRITE;
constexpr int WipeOnFork = 18, KeepOnFork = 19, DontNeedLocked = 24;  // MADV_*, of newer headers

constexpr size_t round_down(size_t n, size_t unit) { return n / unit * unit; }
constexpr size_t round_up(size_t n, size_t unit) { return round_down(n + unit - 1, unit); }

}  // namespace

void Arena::publish(uintptr_t base, size_t bytes) noexcept {
  base_.store(base, std::memory_order_relaxed);
  size_.store(bytes, std::memory_order_release);  // owns() answers false until here
}

bool Arena::reserve(size_t bytes, size_t least) noexcept {
  for (size_t want = round_down(bytes, HugePage); want >= least && want > 0;
       want = round_down(want / 2, HugePage)) {
    void* raw = system_memory.map(want + HugePage, PROT_NONE);
    if (raw == MAP_FAILED) continue;
    const uintptr_t base = round_up(reinterpret_cast<uintptr_t>(raw), HugePage);
    // Before any page exists, so that later mprotect calls extend one mapping. Refusal only costs
    // speed.
    system_memory.advise(reinterpret_cast<void*>(base), want, MADV_HUGEPAGE);
    publish(base, want);
    return true;
  }
  return false;
}

bool Arena::adopt(void* memory, size_t bytes) noexcept {
  const auto start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t base = round_up(start, HugePage);
  if (bytes < base - start + HugePage) return false;
  usable_ = round_down(bytes - (base - start), HugePage);
  adopted_ = true;
  publish(base, usable_);
  return true;
}

bool Arena::share() noexcept {
  const int file = system_memory.make_file(size());
  if (file < 0) return false;
  if (!system_memory.map_file(base(), size(), PROT_NONE, MAP_SHARED, file, 0)) {
    ::close(file);
    return false;
  }
  system_memory.advise(base(), size(), MADV_HUGEPAGE);
  file_id_ = id_of(file);
  file_ = file;
  return true;
}

Arena::FileId Arena::id_of(int file) noexcept {
  struct stat st {};
  if (::fstat(file, &st) != 0) return {};
  return {st.st_dev, st.st_ino};
}

// A program may close what it did not open, and get the number for a file of its own.
int Arena::file() const noexcept { return shared() && id_of(file_) == file_id_ ? file_ : -1; }

bool Arena::give_back(void* at, size_t bytes) noexcept {
  return system_memory.advise(at, bytes, shared() ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

void Arena::begin_fork() noexcept {
  if (!shared()) return;
  forking_ = ::getpid();
  void* const copy = usable_ ? system_memory.map(usable_, PROT_READ | PROT_WRITE) : MAP_FAILED;
  copy_ = copy == MAP_FAILED ? nullptr : static_cast<char*>(copy);
}

// Only what is there: to read what was never touched would take memory for it. Through the file, whatever the program
// may do with its mapping. `to`: for zeros, of the arena's first byte.
void Arena::read_into(char* to, size_t first, size_t end) const noexcept {
  const int file = this->file();
  const auto last = static_cast<off_t>(end);
  if (file < 0)
    untouchable_.each_outside(first, end, [&](size_t a, size_t b) { std::memcpy(to + a, base() + a, b - a); });
  for (off_t from = file < 0 ? -1 : ::lseek(file, static_cast<off_t>(first), SEEK_DATA); from >= 0 && from < last;) {
    const off_t hole = ::lseek(file, from, SEEK_HOLE);
    const off_t until = hole < 0 ? last : std::min(hole, last);
    while (from < until) {
      const ssize_t n = ::pread(file, to + from, static_cast<size_t>(until - from), from);
      if (n <= 0) return;
      from += n;
    }
    from = until == last ? last : ::lseek(file, until, SEEK_DATA);
  }
}

void Arena::copy_for_child(const void* at, size_t bytes) noexcept {
  if (!copy_) return;
  const size_t first = offset_of(at);
  private_.each_outside(first, first + bytes, [&](size_t from, size_t to) {
    wiped_.each_outside(from, to, [&](size_t begin, size_t end) { read_into(copy_, begin, end); });
  });
}

void Arena::end_fork() noexcept {
  if (!shared()) return;
  if (::getpid() != forking_)
    become_private();
  else if (copy_)
    system_memory.unmap(copy_, usable_);
  copy_ = nullptr;
}

// Without memory for a copy the child sees what its parent writes to pages that it has not written itself.
void Arena::become_private() noexcept {
  private_.each_outside(0, usable_, [&](size_t from, size_t to) {
    const bool copied = copy_ && system_memory.move(copy_ + from, base() + from, to - from);
    if (!copied) system_memory.map_file(base() + from, to - from, Usual, MAP_PRIVATE, file_, from);
    wiped_.each_inside(from, to, [&](size_t a, size_t b) { system_memory.advise(base() + a, b - a, WipeOnFork); });
    const auto protect = [&](int as) {
      return [=, this](size_t a, size_t b) { system_memory.protect(base() + a, b - a, as, NoKey); };
    };
    read_only_.each_inside(from, to, protect(PROT_READ));
    untouchable_.each_inside(from, to, protect(PROT_NONE));
    left_out_.each_inside(from, to, [&](size_t a, size_t b) { system_memory.unmap(base() + a, b - a); });
  });
  private_.each_inside(0, usable_, [&](size_t from, size_t to) {
    if (copy_) system_memory.unmap(copy_ + from, to - from);
  });
  for (RangeSet* const set : {&private_, &wiped_, &left_out_, &read_only_, &untouchable_}) set->clear();
  system_memory.map_file(base() + usable_, size() - usable_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  system_memory.advise(base(), size(), MADV_HUGEPAGE);
  if (file() >= 0) ::close(file_);
  file_ = -1;
}

bool Arena::grow(size_t bytes) noexcept {
  if (bytes <= usable_) return true;
  if (bytes > size()) return false;
  const size_t target = std::min(round_up(bytes, GrowStep), size());
  if (system_memory.protect(base() + usable_, target - usable_, Usual, NoKey) != 0) return false;
  usable_ = target;
  return true;
}

// --- What the program does to pages ---

bool Arena::is_private(size_t first, size_t end) const noexcept {
  bool all = true;
  private_.each_outside(first, end, [&](size_t, size_t) { all = false; });
  return all;
}

int Arena::advise(void* at, size_t bytes, int advice) noexcept {
  const size_t page = static_cast<size_t>(::getpagesize());
  const size_t first = offset_of(at), end = round_up(first + bytes, page);
  // What is wrong the system says.
  if (!shared() || first % page != 0 || is_private(first, end)) return system_memory.advise(at, bytes, advice);
  switch (advice) {
    case MADV_DONTNEED:
    case DontNeedLocked:
    case MADV_FREE:  // whose pages may go at once
      return drop(first, end, advice);
    case MADV_REMOVE:
      errno = EINVAL;
      return -1;
    case WipeOnFork:
    case KeepOnFork:
      return keep_from_child(wiped_, first, end, advice, advice == KeepOnFork);
    case MADV_DONTFORK:
    case MADV_DOFORK:
      return keep_from_child(left_out_, first, end, advice, advice == MADV_DOFORK);
    default:
      return system_memory.advise(at, bytes, advice);
  }
}

int Arena::drop(size_t first, size_t end, int advice) noexcept {
  int result = 0;
  private_.each_inside(first, end, [&](size_t from, size_t to) {
    if (system_memory.advise(base() + from, to - from, advice) != 0) result = -1;
  });
  private_.each_outside(first, end, [&](size_t from, size_t to) {
    if (!punch(from, to)) std::memset(base() + from, 0, to - from);
  });
  return result;
}

// Whatever the mapping's protection is.
bool Arena::punch(size_t first, size_t end) noexcept {
  const int file = this->file();
  if (file < 0) return system_memory.advise(base() + first, end - first, MADV_REMOVE) == 0;
  return ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                     static_cast<off_t>(end - first)) == 0;
}

void Arena::protected_as(const void* at, size_t bytes, int protection) noexcept {
  if (!shared()) return;
  const size_t first = offset_of(at), end = first + bytes;
  read_only_.remove(first, end);
  untouchable_.remove(first, end);
  if (protection & PROT_WRITE) return;
  (protection & PROT_READ ? read_only_ : untouchable_).add(first, end);
}

void Arena::forget_changes(size_t first, size_t end) noexcept {
  for (RangeSet* const set : {&wiped_, &left_out_, &read_only_, &untouchable_}) set->remove(first, end);
}

// The file's pages no child has from its parent anyway: it is the copy that is meant.
int Arena::keep_from_child(RangeSet& what, size_t first, size_t end, int advice, bool keep) noexcept {
  int result = 0;
  private_.each_inside(first, end, [&](size_t from, size_t to) {
    if (system_memory.advise(base() + from, to - from, advice) != 0) result = -1;
  });
  bool noted = true;
  private_.each_outside(first, end, [&](size_t from, size_t to) {
    noted = noted && (keep ? what.remove(from, to) : what.add(from, to));
  });
  if (!noted) errno = ENOMEM;
  return noted ? result : -1;
}

bool Arena::make_private(void* at, size_t bytes) noexcept {
  const size_t first = offset_of(at), end = first + bytes;
  while (shared() && !is_private(first, end)) {
    size_t from = end, to = end;
    private_.each_outside(first, end, [&](size_t a, size_t b) {
      if (from == end) from = a, to = b;
    });
    if (!private_.has_room() || !copy_in_place(from, to)) return false;
    replaced(base() + from, to - from);
  }
  return true;
}

bool Arena::copy_in_place(size_t first, size_t end) noexcept {
  const size_t bytes = end - first;
  void* const copy = system_memory.map(bytes, Usual);
  if (copy == MAP_FAILED) return false;
  read_into(static_cast<char*>(copy) - first, first, end);
  const auto protect = [&](int as) {
    return [=](size_t a, size_t b) { system_memory.protect(static_cast<char*>(copy) + (a - first), b - a, as, NoKey); };
  };
  read_only_.each_inside(first, end, protect(PROT_READ));
  untouchable_.each_inside(first, end, protect(PROT_NONE));
  const bool done = system_memory.move(copy, base() + first, bytes);
  if (!done) system_memory.unmap(copy, bytes);
  return done;
}

void Arena::replaced(const void* at, size_t bytes) noexcept {
  if (!shared()) return;
  const size_t first = offset_of(at), end = first + bytes;
  private_.add(first, end);
  forget_changes(first, end);
  if (file() >= 0) punch(first, end);
}

bool Arena::renew(void* at, size_t bytes) noexcept {
  const size_t first = offset_of(at), end = first + bytes;
  const int file = this->file();
  if (shared() && file < 0) return false;
  const int flags = shared() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  if (!private_.remove(first, end)) return false;
  if (!system_memory.map_file(at, bytes, Usual, flags, file, shared() ? first : 0)) {
    private_.add(first, end);
    return false;
  }
  forget_changes(first, end);
  system_memory.advise(at, bytes, MADV_HUGEPAGE);
  return !shared() || give_back(at, bytes);
}

}  // namespace gt::opt
