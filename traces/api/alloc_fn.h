// The allocation functions: their numbers, parameters and results.
//
// Numbered in the same space as OpenCL's functions (model::FnId). Numbers are part of the trace format: appended,
// never reused. The parameters of the table are those of the C declaration, without the empty std::nothrow_t; brk's
// address is told as sbrk's increment, so that it does not depend on where the program lies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gt::api {

constexpr uint16_t FirstAllocFn = 0x8000;

enum class AllocFn : uint16_t {
  Malloc = FirstAllocFn, Calloc, Realloc, Reallocarray, Free, Cfree, Memalign, AlignedAlloc, PosixMemalign, Valloc,
  Pvalloc, New, NewArray, NewNothrow, NewArrayNothrow, NewAligned, NewArrayAligned, NewAlignedNothrow,
  NewArrayAlignedNothrow, Delete, DeleteArray, DeleteSized, DeleteArraySized, DeleteAligned, DeleteArrayAligned,
  DeleteSizedAligned, DeleteArraySizedAligned, DeleteNothrow, DeleteArrayNothrow, DeleteAlignedNothrow,
  DeleteArrayAlignedNothrow, Mmap, Mmap64, Mremap, Munmap, MallocUsableSize, Strdup, Strndup, Wcsdup, Brk, Sbrk, Count,
};

constexpr bool is_alloc_fn(uint16_t fn) { return fn >= FirstAllocFn && fn < 0xc000; }  // callback_fn.h has the rest

// What a parameter or a result of an allocation function is.
enum class AllocRole : uint8_t {
  None,    // there is no such parameter or result
  Number,  // flags, an alignment, a file descriptor, a result code
  Size,    // bytes of the memory asked for; several multiply
  Place,   // an address that the call looks at
  Old,     // memory that the call gives back
  Made,    // memory that the call makes
};

struct AllocParam {
  const char* name = "";
  AllocRole role = AllocRole::None;
};

struct AllocFnInfo {
  static constexpr size_t MaxParams = 6;
  const char* name;
  std::array<AllocParam, MaxParams> params;
  AllocRole result = AllocRole::None;

  size_t param_count() const;
  bool gives_back() const;  // one of its parameters is Old
  bool makes() const;       // a parameter or the result is Made
};

// REQUIRES: is_alloc_fn(fn). A number that is not one of ours has the name "?" and no parameters.
const AllocFnInfo& alloc_fn_info(uint16_t fn);

// "malloc", "operator new[]", ...; "?" for a number that is not one of ours.
const char* alloc_fn_name(uint16_t fn);

}  // namespace gt::api
