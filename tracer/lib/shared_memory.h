// --capture full: memory that the program may write without telling anybody, and kernels may read: fine-grained SVM,
// host and shared USM, what buffers use in place (CL_MEM_USE_HOST_PTR).
//
//   Enter clEnqueueNDRangeKernel, SharedContent(p, ...), SharedContent(p2, ...), Exit
//
// At each launch it is looked at, and what has changed since the last one leaves a SharedContent record. Only when no
// command is under way (queue_states.h): else what is there may be half of a kernel's result, which nobody may put
// there again. A launch that finds commands under way, or more memory than there is room to remember, leaves one record
// that says so.
// Thread safety: any thread; no lock, no allocation. Cost: a comparison for programs without such memory; else the hash
// of all of it at each launch.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>

namespace gt::tracer {

bool any_shared() noexcept;
// `owner`: the memory object that uses it in place; nullptr: it is OpenCL's own, until it is given back.
void note_shared(const void* p, size_t size, cl_mem owner) noexcept;
void forget_shared(const void* p) noexcept;
void count_owners(cl_mem owner, int change) noexcept;  // retained, released

// REQUIRES: the Enter record of a launch is written, of which nothing is under way yet.
void record_shared(uint16_t fn) noexcept;

}  // namespace gt::tracer
