// The entry paths by which a program reaches OpenCL without naming it at link time.
//
// GT_DEFINE_ENTRY_PATHS() expands to the exported dlopen, dlmopen, dlsym, dlvsym, dlclose and dlerror. When the
// program's own code asks for a file called libOpenCL.so*, by whatever path and flags, and the system has it, it gets a
// handle on the injected library instead; what it asks of that handle, or for OpenCL's functions of any other, it is
// told by opencl_requests.h; everything else reaches the real function by a jump. The jump is essential: glibc finds
// the caller's RPATH, RUNPATH, $ORIGIN and RTLD_NEXT by the return address, so that must be the program's. (Compilers
// make no tail calls at -O0: hence the assembly.) The driver's requests (threads inside a wrapped call, muted ones)
// always reach the real functions: a driver that calls itself libOpenCL.so must not find us.
// Thread safety: all functions.
#pragma once

#include "tracer/interpose/dynamic_linker.h"
#include "tracer/interpose/linker_failure.h"
#include "traces/base/reentry.h"

#pragma GCC visibility push(hidden)

namespace gt::interpose {

// The functions that requests of the program are passed on to.
Dlopen dlopen_for(const char* path, int flags);
Dlmopen dlmopen_for(long space, const char* path, int flags);
Dlsym dlsym_for(void* handle, const char* name, const void* caller);
Dlvsym dlvsym_for(void* handle, const char* name, const char* version);
// dlclose.
int close_library(void* handle);
// Called before the program loads a library with RTLD_DEEPBIND: that one's malloc and free are libc's, not ours. Set
// from a constructor.
extern void (*before_deep_binding)();

}  // namespace gt::interpose

#pragma GCC visibility pop

// The same as dlopen_for and the others, by names that the jumps can be written with.
extern "C" {
__attribute__((visibility("hidden"))) gt::interpose::Dlopen gt_dlopen_for(const char* path, int flags);
__attribute__((visibility("hidden"))) gt::interpose::Dlmopen gt_dlmopen_for(long space, const char* path, int flags);
__attribute__((visibility("hidden"))) gt::interpose::Dlsym gt_dlsym_for(void* handle, const char* name,
                                                                       const void* caller);
__attribute__((visibility("hidden"))) gt::interpose::Dlvsym gt_dlvsym_for(void* handle, const char* name,
                                                                         const char* version);
}

// Saves the arguments, asks a function of the above where to go, and goes there as if nobody had been in between. The
// fourth argument is the return address, in the register of the third where there are only two: dlsym's.
#if defined(__x86_64__)
#define GT_JUMP_CODE(ASK, CALLER)                                                       \
  "endbr64\n"                                                                           \
  "push %rdi\n .cfi_adjust_cfa_offset 8\n"                                              \
  "push %rsi\n .cfi_adjust_cfa_offset 8\n"                                              \
  "push %rdx\n .cfi_adjust_cfa_offset 8\n" CALLER "call " ASK "\n"                      \
  "pop %rdx\n .cfi_adjust_cfa_offset -8\n"                                              \
  "pop %rsi\n .cfi_adjust_cfa_offset -8\n"                                              \
  "pop %rdi\n .cfi_adjust_cfa_offset -8\n"                                              \
  "jmp *%rax\n"
#define GT_JUMP_CALLER "mov 24(%rsp), %rdx\n"
#elif defined(__aarch64__)
#define GT_JUMP_CODE(ASK, CALLER)                                                       \
  "hint 34\n" /* bti c */                                                               \
  "stp x29, x30, [sp, -48]!\n .cfi_adjust_cfa_offset 48\n .cfi_rel_offset x30, 8\n"     \
  "stp x0, x1, [sp, 16]\n"                                                              \
  "str x2, [sp, 32]\n" CALLER "bl " ASK "\n"                                            \
  "mov x16, x0\n"                                                                       \
  "ldp x0, x1, [sp, 16]\n"                                                              \
  "ldr x2, [sp, 32]\n"                                                                  \
  "ldp x29, x30, [sp], 48\n .cfi_adjust_cfa_offset -48\n .cfi_restore x30\n"            \
  "br x16\n"
#define GT_JUMP_CALLER "mov x2, x30\n"
#else
#error "write the jumps of the entry paths for this processor"
#endif

#define GT_DEFINE_JUMP(NAME, ASK, CALLER)                                               \
  asm(".pushsection .text\n .globl " NAME "\n .type " NAME ", %function\n .p2align 4\n" \
      NAME ":\n .cfi_startproc\n" GT_JUMP_CODE(ASK, CALLER)                             \
      ".cfi_endproc\n .size " NAME ", .-" NAME "\n .popsection\n");

// gt_interposed_library marks a shared object as one of ours: never to be taken for the real OpenCL
// library.
#define GT_DEFINE_ENTRY_PATHS()                                                          \
  extern "C" __attribute__((visibility("default"))) const char gt_interposed_library[];  \
  extern "C" const char gt_interposed_library[] = "gtrace " GT_VERSION;                  \
  GT_DEFINE_JUMP("dlopen", "gt_dlopen_for", "")                                          \
  GT_DEFINE_JUMP("dlmopen", "gt_dlmopen_for", "")                                        \
  GT_DEFINE_JUMP("dlsym", "gt_dlsym_for", GT_JUMP_CALLER)                                \
  GT_DEFINE_JUMP("dlvsym", "gt_dlvsym_for", "")                                          \
  extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept { \
    return ::gt::interpose::close_library(handle);                                       \
  }                                                                                      \
  extern "C" __attribute__((visibility("default"))) char* dlerror() noexcept {           \
    return ::gt::interpose::program_dlerror();                                           \
  }
