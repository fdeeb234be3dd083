// Which addresses are shared virtual memory: clEnqueueSVMMemcpy takes pointers of either kind, and only what was
// allocated tells them apart.
// Thread safety: all functions, but lock and unlock, which are for fork(). Cost: nothing for programs without it.
#pragma once

#include <CL/cl.h>

#include <cstddef>

#include "transport/staging/host_transfer.h"

#pragma GCC visibility push(hidden)

namespace gt::opt {

void svm_allocated(cl_context context, const void* p, size_t bytes) noexcept;
void svm_freed(const void* p) noexcept;
// All of the context's is gone.
void svm_left(cl_context context) noexcept;

// True: one side lies in one allocation of the queue's context, the other in the host's memory alone. Whatever is not
// so for certain is the driver's.
bool copy_of_svm(cl_command_queue queue, const void* to, const void* from, size_t bytes, staging::Way* way) noexcept;

bool is_svm(const void* p) noexcept;

void lock_svm_memory() noexcept;
void unlock_svm_memory() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
