// A range of addresses that pool memory comes from: reserved whole, made usable from its bottom as
// the pool grows.
//
// Reserving costs address space only. Ownership of a pointer is one subtraction and one comparison,
// so that free() of everybody else's memory stays as fast as it was. Invariant: usable() <= size(),
// both multiples of HugePage; base() is aligned to HugePage; a range once given by reserve or adopt
// never moves and is never returned, so that late frees stay safe. Thread safety: owns() from any
// thread at any time; the rest under the pool's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gt::opt {

constexpr size_t HugePage = size_t{2} << 20;

class Arena {
 public:
  constexpr Arena() = default;

  // Reserves `bytes` of addresses, or half, a quarter, ... down to `least`. False: none were
  // granted.
  bool reserve(size_t bytes, size_t least) noexcept;
  // Takes memory that exists already and stays for the rest of the process. False: too small to be
  // of use.
  bool adopt(void* base, size_t bytes) noexcept;

  bool owns(const void* p) const noexcept {
    const size_t bytes = x_size.load(std::memory_order_acquire);
    return reinterpret_cast<uintptr_t>(p) - x_base.load(std::memory_order_relaxed) < bytes;
  }

  // Makes the first `bytes` readable and writable, zero where never written. False: the system
  // refused.
  bool grow(size_t bytes) noexcept;

  char* base() const noexcept {
    return reinterpret_cast<char*>(x_base.load(std::memory_order_relaxed));
  }
  size_t size() const noexcept { return x_size.load(std::memory_order_relaxed); }
  size_t usable() const noexcept { return x_usable; }
  bool adopted() const noexcept { return x_adopted; }

 private:
  void publish(uintptr_t base, size_t bytes) noexcept;

  std::atomic<uintptr_t> x_base{0};
  std::atomic<size_t> x_size{0};
  size_t x_usable = 0;
  bool x_adopted = false;
};

}  // namespace gt::opt
