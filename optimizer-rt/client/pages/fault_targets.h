// Who looks after which addresses, for the handler of SIGSEGV: a sorted list that is replaced whole, so that it is read
// without a lock.
// Thread safety: pinned_target() from anywhere, also signal handlers; add and remove from any thread, not from
// handlers. Cost: looking an address up, some 20 ns; adding one copies the list.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gt::virt {

struct FaultTarget {
  enum class Answer : uint8_t { Again, NotOurs };  // the access is repeated; the program's own business
  uintptr_t low = 0, high = 0;                     // up to, without high
  enum class Access : uint8_t { Unknown, Read, Write };
  // In the handler, with all signals blocked. May wait.
  Answer (*touched)(FaultTarget* self, uintptr_t address, Access access) = nullptr;
  std::atomic<uint32_t> pins{0};
};

bool add_target(FaultTarget* target);     // false: no memory
void remove_target(FaultTarget* target);  // pins that there are stay

// REQUIRES: all signals are blocked. nullptr: nobody does. Who got one ends with --pins.
FaultTarget* pinned_target(uintptr_t address) noexcept;

// Held over fork(); `in_child`: from now on nobody looks after anything.
void lock_targets();
void unlock_targets(bool in_child);
// REQUIRES: lock_targets(). Those that there are.
void each_target(void (*visit)(FaultTarget* target));

}  // namespace gt::virt
