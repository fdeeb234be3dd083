// Which of the program's handles are the virtual platform's (virtual_platform.h).
// Thread safety: all functions. Cost: one load where nothing is virtual.
#pragma once

#include <CL/cl_icd.h>

#include <atomic>

#pragma GCC visibility push(hidden)

namespace gt::opt {

extern std::atomic<const cl_icd_dispatch*> virtual_table;  // nullptr: nothing is virtual (yet)

// Is the handle one of the virtual platform's? Its first word is the table of its functions, as the ICD asks of all.
inline bool is_virtual(const void* handle) noexcept {
  const cl_icd_dispatch* const table = virtual_table.load(std::memory_order_relaxed);
  if (__builtin_expect(table == nullptr, 1) || !handle) return false;
  return *static_cast<const cl_icd_dispatch* const*>(handle) == table;
}

}  // namespace gt::opt

#pragma GCC visibility pop
