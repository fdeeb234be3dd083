// Interposing on functions whose callers no name leads past us: those linked into the program itself, and libc's own
// for libraries that were told to look there first. Their first instructions are replaced by a jump to our hook.
// Inside the process this is copying and adding; deciding what can be patched, and relocating the displaced
// instructions, was done before the start on the file's bytes (entry_plan.h), so no disassembler is loaded.
//
// The plan travels in an environment variable, for one file only (device and inode), the program or a library that is
// loaded already; processes without it ignore the plan:
//
//   DEVICE:INODE;ENTRY;ENTRY...            numbers are hexadecimal, fields are separated by commas
//   ENTRY = NAME,ADDRESS                   not to be patched, but this is what the program calls NAME
//         | NAME,ADDRESS,AT,ORIGINAL,TRAMPOLINE[,FIXUP...]
//   AT          address of the jump (behind an endbr64 or bti, which stays)
//   ORIGINAL    the bytes there, as a check; the jump takes the first JumpBytes of them
//   TRAMPOLINE  the displaced instructions, moved, and a jump to what follows them
//   FIXUP       rOFFSET:END:TARGET   the 4 bytes at OFFSET become TARGET - END, with END an offset in the trampoline
//             | aOFFSET:TARGET       the 8 bytes at OFFSET become the address TARGET
//
// Addresses are the file's; the load bias is added. A call of the hook's "real" function goes to the trampoline.
// Invariant: never while the process has a second thread; never when the bytes in memory are not ORIGINAL; memory is
// at no time writable and executable at once. What cannot be done is left undone, and the function stays as it was.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)

namespace gt::interpose {

constexpr const char* EntryPlanVariable = "GTRACE_ENTRY_PLAN";

#if defined(__x86_64__)
constexpr size_t JumpBytes = 5;                   // jmp rel32
constexpr uint64_t JumpReach = uint64_t{1} << 31;  // both ways
#else
constexpr size_t JumpBytes = 4;  // b
constexpr uint64_t JumpReach = uint64_t{1} << 27;
#endif

struct EntryHooks {
  void* (*hook_for)(const char* name);              // nullptr: we have none, the entry is left alone
  void (*set_real)(const char* name, void* function);  // what the hook is to call; before the entry is patched
};

// Carries out the plan. Returns the number of entries patched. REQUIRES: called from a constructor.
int patch_entries(const char* plan, const EntryHooks& hooks);

}  // namespace gt::interpose

#pragma GCC visibility pop
