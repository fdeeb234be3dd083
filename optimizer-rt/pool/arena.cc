// Reserving and growing an arena.
#include "optimizer-rt/pool/arena.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "optimizer-rt/pool/system_memory.h"

namespace gt::opt {
namespace {

constexpr size_t GrowStep = size_t{32} << 20;  // few, large mprotect calls

constexpr size_t round_down(size_t n, size_t unit) { return n / unit * unit; }
constexpr size_t round_up(size_t n, size_t unit) { return round_down(n + unit - 1, unit); }

}  // namespace

void Arena::publish(uintptr_t base, size_t bytes) noexcept {
  x_base.store(base, std::memory_order_relaxed);
  x_size.store(bytes, std::memory_order_release);  // owns() answers false until here
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
  x_usable = round_down(bytes - (base - start), HugePage);
  x_adopted = true;
  publish(base, x_usable);
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
  x_file_id = id_of(file);
  x_file = file;
  return true;
}

Arena::FileId Arena::id_of(int file) noexcept {
  struct stat st {};
  if (::fstat(file, &st) != 0) return {};
  return {st.st_dev, st.st_ino};
}

// A program may close what it did not open, and get the number for a file of its own.
int Arena::file() const noexcept { return shared() && id_of(x_file) == x_file_id ? x_file : -1; }

bool Arena::give_back(void* at, size_t bytes) noexcept {
  return system_memory.advise(at, bytes, shared() ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

void Arena::begin_fork() noexcept {
  if (!shared()) return;
  x_forking = ::getpid();
  void* const copy = x_usable ? system_memory.map(x_usable, PROT_READ | PROT_WRITE) : MAP_FAILED;
  x_copy = copy == MAP_FAILED ? nullptr : static_cast<char*>(copy);
}

// Only what is there: to read what was never touched would take memory for it.
void Arena::copy_for_child(const void* at, size_t bytes) noexcept {
  if (!x_copy) return;
  const int file = this->file();
  const auto first = static_cast<off_t>(static_cast<const char*>(at) - base());
  const off_t end = first + static_cast<off_t>(bytes);
  off_t from = file < 0 ? first : ::lseek(file, first, SEEK_DATA);
  while (from >= 0 && from < end) {
    const off_t hole = file < 0 ? end : ::lseek(file, from, SEEK_HOLE);
    const off_t to = hole < 0 ? end : std::min(hole, end);
    std::memcpy(x_copy + from, base() + from, static_cast<size_t>(to - from));
    from = file < 0 || to == end ? end : ::lseek(file, to, SEEK_DATA);
  }
}

void Arena::end_fork() noexcept {
  if (!shared()) return;
  if (::getpid() != x_forking)
    become_private();
  else if (x_copy)
    system_memory.unmap(x_copy, x_usable);
  x_copy = nullptr;
}

// Without memory for a copy the child sees what its parent writes to pages that it has not written itself.
void Arena::become_private() noexcept {
  const bool copied = x_copy && system_memory.move(x_copy, base(), x_usable);
  if (!copied) system_memory.map_file(base(), x_usable, PROT_READ | PROT_WRITE, MAP_PRIVATE, x_file, 0);
  system_memory.map_file(base() + x_usable, size() - x_usable, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  system_memory.advise(base(), size(), MADV_HUGEPAGE);
  if (file() >= 0) ::close(x_file);
  x_file = -1;
}

bool Arena::grow(size_t bytes) noexcept {
  if (bytes <= x_usable) return true;
  if (bytes > size()) return false;
  const size_t target = std::min(round_up(bytes, GrowStep), size());
  if (system_memory.protect(base() + x_usable, target - x_usable, PROT_READ | PROT_WRITE) != 0) return false;
  x_usable = target;
  return true;
}

}  // namespace gt::opt
