// Memory objects that the program makes from memory of its own (CL_MEM_COPY_HOST_PTR).
//
// A driver copies pageable memory into them with one thread. Where staging pays, the object is made without that
// flag and filled by a staged transfer, which is over when the program gets the object: its memory is read within the
// call, as it is natively. To the program the object has the flag, and so have sub-buffers and images made of it
// (OpenCL 3.0, section 5.2.1: what is inherited). Whatever is unusual (several devices, a sub-device, flags that limit
// the host, pitches, properties) or goes wrong is the driver's, with the program's own arguments.
// Thread safety: all functions. Cost: one test of the flags for what is not copied; for what is known of the objects,
// one load and test while there are none.
#pragma once

#include <CL/cl.h>

#include <cstddef>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// The arguments of clCreateBuffer and its kin in one shape; they may be anything.
struct Creation {
  cl_context context = nullptr;
  bool with_properties = false;  // by the function of that name
  const cl_mem_properties* properties = nullptr;
  cl_mem_flags flags = 0;
  size_t bytes = 0;  // of a buffer
  const cl_image_format* format = nullptr;  // of an image
  const cl_image_desc* desc = nullptr;
  const void* host = nullptr;
  cl_int* error = nullptr;
};

// True: the object is made, `*out`. False: the driver's turn.
bool create_copied(const Creation& creation, cl_mem* out) noexcept;

// The program made `child` of `parent`, with these flags.
void memory_derived(cl_mem child, cl_mem_flags flags, cl_mem parent) noexcept;
void memory_retained(cl_mem mem) noexcept;
void memory_releasing(cl_mem mem) noexcept;
// Puts right what the driver answered.
void correct_memory_info(cl_mem mem, cl_mem_info what, size_t size, void* value) noexcept;

// Around fork(), as for staged events.
void lock_copied_memory() noexcept;
void unlock_copied_memory() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
