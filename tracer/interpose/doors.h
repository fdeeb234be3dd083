// The doors by which a program reaches OpenCL without naming it at link time, and what is loaded in
// the process.
//
// GT_DEFINE_DOORS() expands to the exported dlopen. When the program's own code asks for a file
// called libOpenCL.so*, by whatever path and flags, it gets a handle on the injected library
// instead; everything else reaches the real dlopen by a tail call. The tail call is essential:
// glibc finds the caller's RPATH, RUNPATH and $ORIGIN by the return address, so that must be the
// program's. (At -O0 compilers make no tail calls: hence GT_TAIL_CALL.) The driver's requests
// (threads inside a wrapped call, muted threads) always reach the real dlopen: a driver that calls
// itself libOpenCL.so must not find us. Thread safety: all functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "traces/base/reentry.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

using Dlopen = void* (*)(const char*, int);

// Straight to libc's.
void* real_dlopen(const char* path, int flags);
// The function that a request of the program is passed on to.
Dlopen dlopen_for(const char* path, int flags);
// Called before the program loads a library with RTLD_DEEPBIND: that one's malloc and free are libc's, not ours. Set
// from a constructor.
extern void (*before_deep_binding)();
// How often a library was asked for: what is remembered of code addresses from before may be another code's.
extern std::atomic<uint32_t> libraries_asked_for;
// "libOpenCL.so", "libOpenCL.so.1", "/any/where/libOpenCL.so.1.2".
bool is_opencl_name(const char* path);

// True when a library was loaded since the last call that returned true (and the first time). Cost:
// one look at the dynamic linker's counter, about 50 ns and its lock; for calls that are rare.
bool modules_changed();

struct ModuleInfo {
  uint64_t base;  // lowest mapped address
  uint64_t end;   // one past the highest
  uint64_t bias;  // address in memory = bias + address in the file
  const char*
      path;  // absolute for the program itself; as the dynamic linker knows it for libraries
  const char* build_id;  // lower-case hex, "" when there is none
};

using ModuleVisitor = void (*)(const ModuleInfo&, void* context);
// Visits the program and every loaded library, while the dynamic linker holds its lock: `visit`
// must not load any. Allocates nothing.
void visit_modules(ModuleVisitor visit, void* context);

template <class Visit>
void for_each_module(Visit&& visit) {
  using Function = std::remove_reference_t<Visit>;
  visit_modules([](const ModuleInfo& m, void* f) { (*static_cast<Function*>(f))(m); }, &visit);
}

}  // namespace gt::interpose

#pragma GCC visibility pop

// The same as dlopen_for, by a name that the jump can be written with.
extern "C" __attribute__((visibility("hidden"))) gt::interpose::Dlopen gt_dlopen_for(
    const char* path, int flags);

// Saves the arguments, asks gt_dlopen_for where to go, and goes there as if nobody had been in
// between.
#if defined(__x86_64__)
#define GT_DLOPEN_CODE                         \
  "endbr64\n"                                  \
  "push %rdi\n .cfi_adjust_cfa_offset 8\n"     \
  "push %rsi\n .cfi_adjust_cfa_offset 8\n"     \
  "sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n"  \
  "call gt_dlopen_for\n"                       \
  "add $8, %rsp\n .cfi_adjust_cfa_offset -8\n" \
  "pop %rsi\n .cfi_adjust_cfa_offset -8\n"     \
  "pop %rdi\n .cfi_adjust_cfa_offset -8\n"     \
  "jmp *%rax\n"
#elif defined(__aarch64__)
#define GT_DLOPEN_CODE                                                              \
  "hint 34\n" /* bti c */                                                           \
  "stp x29, x30, [sp, -32]!\n .cfi_adjust_cfa_offset 32\n .cfi_rel_offset x30, 8\n" \
  "stp x0, x1, [sp, 16]\n"                                                          \
  "bl gt_dlopen_for\n"                                                              \
  "mov x16, x0\n"                                                                   \
  "ldp x0, x1, [sp, 16]\n"                                                          \
  "ldp x29, x30, [sp], 32\n .cfi_adjust_cfa_offset -32\n .cfi_restore x30\n"        \
  "br x16\n"
#else
#error "write the jump of dlopen for this processor"
#endif

// gt_interposed_library marks a shared object as one of ours: never to be taken for the real OpenCL
// library.
#define GT_DEFINE_DOORS()                                                               \
  extern "C" __attribute__((visibility("default"))) const char gt_interposed_library[]; \
  extern "C" const char gt_interposed_library[] = "gtrace " GT_VERSION;                 \
  asm(".pushsection .text\n .globl dlopen\n .type dlopen, %function\n .p2align 4\n"     \
      "dlopen:\n .cfi_startproc\n" GT_DLOPEN_CODE                                       \
      ".cfi_endproc\n .size dlopen, .-dlopen\n .popsection\n");
