// A range of addresses that pool memory comes from: reserved whole, made usable from its bottom as
// the pool grows.
//
// Reserving costs address space only. Ownership of a pointer is one subtraction and one comparison,
// so that free() of everybody else's memory stays as fast as it was. Invariant: usable() <= size(),
// both multiples of HugePage; base() is aligned to HugePage; a range once given by reserve or adopt
// never moves and is never returned, so that late frees stay safe. Thread safety: owns() from any
// thread at any time; the rest under the pool's lock.
//
// An arena that is *shared* lies in a file of memory that another process may map, too. A child of fork() must not find
// its parent's memory there: what it gets is a copy, made before the fork, so that whatever was written before the call
// is in it and nothing that comes later. (Memory that the program writes while it forks, without an order between the
// two, may be old in the child: it has no right to either.)
//
// What the program does to pages of its blocks by itself it does to private anonymous memory, as far as it knows. A
// shared arena answers in the same way: pages that are dropped become holes of the file, where the program unmaps or
// moves pages private ones take the place of the file's, and a child of fork() gets the protections, too. Others that
// map the file see none of this: they must have let go before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "optimizer-rt/pool/range_set.h"

namespace gt::opt {

constexpr size_t HugePage = size_t{2} << 20;

class Arena {
 public:
  constexpr Arena() = default;

  // Reserves `bytes` of addresses, or half, a quarter, ... down to `least`. False: none were
  // granted.
  bool reserve(size_t bytes, size_t least) noexcept;
  // Puts a file of memory under a reserved range. REQUIRES: nothing is usable yet. False: it stays private.
  bool share() noexcept;
  // Takes memory that exists already and stays for the rest of the process. False: too small to be
  // of use.
  bool adopt(void* base, size_t bytes) noexcept;

  bool owns(const void* p) const noexcept {
    const size_t bytes = size_.load(std::memory_order_acquire);
    return reinterpret_cast<uintptr_t>(p) - base_.load(std::memory_order_relaxed) < bytes;
  }

  // Makes the first `bytes` readable and writable, zero where never written. False: the system
  // refused.
  bool grow(size_t bytes) noexcept;

  char* base() const noexcept {
    return reinterpret_cast<char*>(base_.load(std::memory_order_relaxed));
  }
  size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  size_t usable() const noexcept { return usable_; }
  bool adopted() const noexcept { return adopted_; }
  bool shared() const noexcept { return file_ >= 0; }
  // The file, whose offsets are those in the arena; -1: private, or the program has closed the file.
  int file() const noexcept;
  // What is in this range goes back to the system; it reads as zeros afterwards. False: refused.
  bool give_back(void* at, size_t bytes) noexcept;

  // --- What the program does to whole pages inside the arena; REQUIRES: owns() them ---
  // As madvise() answers of private memory.
  int advise(void* at, size_t bytes, int advice) noexcept;
  // It was protected: for children.
  void protected_as(const void* at, size_t bytes, int protection) noexcept;
  // Private pages with what is there, in place of the file's. False: some are still the file's.
  bool make_private(void* at, size_t bytes) noexcept;
  // What is mapped there now has nothing to do with the file.
  void replaced(const void* at, size_t bytes) noexcept;
  // Fresh pages, zeros, in place of whatever is there. False: refused.
  bool renew(void* at, size_t bytes) noexcept;

  // Around fork(), of a shared arena: the ranges in use are copied between begin_fork() and the call; end_fork() on
  // both sides. In the child the arena is private afterwards.
  void begin_fork() noexcept;
  void copy_for_child(const void* at, size_t bytes) noexcept;
  void end_fork() noexcept;

 private:
  struct FileId {
    uint64_t device = 0, number = 0;
    bool operator==(const FileId&) const = default;
  };

  size_t offset_of(const void* at) const noexcept { return static_cast<size_t>(static_cast<const char*>(at) - base()); }
  void publish(uintptr_t base, size_t bytes) noexcept;
  bool is_private(size_t first, size_t end) const noexcept;
  int drop(size_t first, size_t end, int advice) noexcept;
  int keep_from_child(RangeSet& what, size_t first, size_t end, int advice, bool keep) noexcept;
  bool punch(size_t first, size_t end) noexcept;
  bool copy_in_place(size_t first, size_t end) noexcept;
  void forget_changes(size_t first, size_t end) noexcept;
  void read_into(char* to, size_t first, size_t end) const noexcept;
  static FileId id_of(int file) noexcept;
  void become_private() noexcept;

  std::atomic<uintptr_t> base_{0};
  std::atomic<size_t> size_{0};
  size_t usable_ = 0;
  bool adopted_ = false;
  int file_ = -1;
  FileId file_id_;
  RangeSet private_;           // offsets where the file is not mapped
  // Of what is: MADV_WIPEONFORK, MADV_DONTFORK; other protections than the usual.
  RangeSet wiped_, left_out_, read_only_, untouchable_;
  char* copy_ = nullptr;  // of the usable part, for a child
  int forking_ = 0;       // the process that forks
};

}  // namespace gt::opt
