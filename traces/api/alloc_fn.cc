// Names of the allocation functions.
#include "traces/api/alloc_fn.h"

#include <array>
#include <cstddef>

namespace gt::api {
namespace {
constexpr std::array Names = {"malloc",
                              "calloc",
                              "realloc",
                              "reallocarray",
                              "free",
                              "cfree",
                              "memalign",
                              "aligned_alloc",
                              "posix_memalign",
                              "valloc",
                              "pvalloc",
                              "operator new",
                              "operator new[]",
                              "operator new(nothrow)",
                              "operator new[](nothrow)",
                              "operator new(align)",
                              "operator new[](align)",
                              "operator new(align, nothrow)",
                              "operator new[](align, nothrow)",
                              "operator delete",
                              "operator delete[]",
                              "operator delete(size)",
                              "operator delete[](size)",
                              "operator delete(align)",
                              "operator delete[](align)",
                              "operator delete(size, align)",
                              "operator delete[](size, align)",
                              "operator delete(nothrow)",
                              "operator delete[](nothrow)",
                              "operator delete(align, nothrow)",
                              "operator delete[](align, nothrow)",
                              "mmap",
                              "mmap64",
                              "mremap",
                              "munmap"};
static_assert(Names.size() == static_cast<size_t>(AllocFn::Count) - FirstAllocFn);
}  // namespace

const char* alloc_fn_name(uint16_t fn) {
  const size_t i = static_cast<size_t>(fn) - FirstAllocFn;
  return fn >= FirstAllocFn && i < Names.size() ? Names[i] : "?";
}

}  // namespace gt::api
