// The allocation functions, numbered in the same space as OpenCL's (model::FnId). Numbers are part of the trace
// format: appended, never reused.
#pragma once

#include <cstdint>

namespace gt::api {

constexpr uint16_t FirstAllocFn = 0x8000;

enum class AllocFn : uint16_t {
  Malloc = FirstAllocFn, Calloc, Realloc, Reallocarray, Free, Cfree, Memalign, AlignedAlloc, PosixMemalign, Valloc,
  Pvalloc, New, NewArray, NewNothrow, NewArrayNothrow, NewAligned, NewArrayAligned, NewAlignedNothrow,
  NewArrayAlignedNothrow, Delete, DeleteArray, DeleteSized, DeleteArraySized, DeleteAligned, DeleteArrayAligned,
  DeleteSizedAligned, DeleteArraySizedAligned, DeleteNothrow, DeleteArrayNothrow, DeleteAlignedNothrow,
  DeleteArrayAlignedNothrow, Mmap, Mmap64, Mremap, Munmap, Count,
};

constexpr bool is_alloc_fn(uint16_t fn) { return fn >= FirstAllocFn && fn < 0xc000; }  // callback_fn.h has the rest

// "malloc", "operator new[]", ...; "?" for a number that is not one of ours.
const char* alloc_fn_name(uint16_t fn);

}  // namespace gt::api
