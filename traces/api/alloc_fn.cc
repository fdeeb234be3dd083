// The table of the allocation functions.
#include "traces/api/alloc_fn.h"

#include <algorithm>
#include <iterator>

namespace gt::api {
namespace {

using enum AllocRole;

using Params = std::array<AllocParam, AllocFnInfo::MaxParams>;
constexpr Params MmapParams = {{{"addr", Place}, {"length", Size}, {"prot", Number}, {"flags", Number}, {"fd", Number},
                                {"offset", Number}}};
constexpr Params MremapParams = {{{"old_address", Old}, {"old_size", Number}, {"new_size", Size}, {"flags", Number},
                                  {"new_address", Place}}};

// clang-format off
constexpr AllocFnInfo Table[] = {
    {"malloc", {{{"size", Size}}}, Made},
    {"calloc", {{{"nmemb", Size}, {"size", Size}}}, Made},
    {"realloc", {{{"ptr", Old}, {"size", Size}}}, Made},
    {"reallocarray", {{{"ptr", Old}, {"nmemb", Size}, {"size", Size}}}, Made},
    {"free", {{{"ptr", Old}}}, None},
    {"cfree", {{{"ptr", Old}}}, None},
    {"memalign", {{{"alignment", Number}, {"size", Size}}}, Made},
    {"aligned_alloc", {{{"alignment", Number}, {"size", Size}}}, Made},
    {"posix_memalign", {{{"memptr", Made}, {"alignment", Number}, {"size", Size}}}, Number},
    {"valloc", {{{"size", Size}}}, Made},
    {"pvalloc", {{{"size", Size}}}, Made},
    {"operator new", {{{"size", Size}}}, Made},
    {"operator new[]", {{{"size", Size}}}, Made},
    {"operator new(nothrow)", {{{"size", Size}}}, Made},
    {"operator new[](nothrow)", {{{"size", Size}}}, Made},
    {"operator new(align)", {{{"size", Size}, {"alignment", Number}}}, Made},
    {"operator new[](align)", {{{"size", Size}, {"alignment", Number}}}, Made},
    {"operator new(align, nothrow)", {{{"size", Size}, {"alignment", Number}}}, Made},
    {"operator new[](align, nothrow)", {{{"size", Size}, {"alignment", Number}}}, Made},
    {"operator delete", {{{"ptr", Old}}}, None},
    {"operator delete[]", {{{"ptr", Old}}}, None},
    {"operator delete(size)", {{{"ptr", Old}, {"size", Number}}}, None},
    {"operator delete[](size)", {{{"ptr", Old}, {"size", Number}}}, None},
    {"operator delete(align)", {{{"ptr", Old}, {"alignment", Number}}}, None},
    {"operator delete[](align)", {{{"ptr", Old}, {"alignment", Number}}}, None},
    {"operator delete(size, align)", {{{"ptr", Old}, {"size", Number}, {"alignment", Number}}}, None},
    {"operator delete[](size, align)", {{{"ptr", Old}, {"size", Number}, {"alignment", Number}}}, None},
    {"operator delete(nothrow)", {{{"ptr", Old}}}, None},
    {"operator delete[](nothrow)", {{{"ptr", Old}}}, None},
    {"operator delete(align, nothrow)", {{{"ptr", Old}, {"alignment", Number}}}, None},
    {"operator delete[](align, nothrow)", {{{"ptr", Old}, {"alignment", Number}}}, None},
    {"mmap", MmapParams, Made},
    {"mmap64", MmapParams, Made},
    {"mremap", MremapParams, Made},
    {"munmap", {{{"addr", Old}, {"length", Number}}}, Number},
    {"malloc_usable_size", {{{"ptr", Place}}}, Number},
    {"strdup", {{{"s", Place}}}, Made},
    {"strndup", {{{"s", Place}, {"n", Number}}}, Made},
    {"wcsdup", {{{"s", Place}}}, Made},
    {"brk", {{{"increment", Number}, {"memory", Made}}}, Number},
    {"sbrk", {{{"increment", Number}}}, Made},
};
// clang-format on
static_assert(std::size(Table) == static_cast<size_t>(AllocFn::Count) - FirstAllocFn);

constexpr AllocFnInfo Unknown{"?", {}, None};

}  // namespace

size_t AllocFnInfo::param_count() const {
  return static_cast<size_t>(
      std::count_if(params.begin(), params.end(), [](const AllocParam& p) { return p.role != None; }));
}

bool AllocFnInfo::gives_back() const { return params[0].role == Old; }

bool AllocFnInfo::makes() const {
  return result == Made ||
         std::any_of(params.begin(), params.end(), [](const AllocParam& p) { return p.role == Made; });
}

const AllocFnInfo& alloc_fn_info(uint16_t fn) {
  const size_t i = static_cast<size_t>(fn) - FirstAllocFn;
  return fn >= FirstAllocFn && i < std::size(Table) ? Table[i] : Unknown;
}

const char* alloc_fn_name(uint16_t fn) { return alloc_fn_info(fn).name; }

}  // namespace gt::api
