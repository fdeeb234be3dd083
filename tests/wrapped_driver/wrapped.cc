#include "tests/wrapped_driver/wrapped.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace gt::wrapped {

cl_icd_dispatch pocl;

namespace {

using AddressOf = void*(CL_API_CALL*)(const char*);
using PlatformIds = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);

AddressOf address_of() {
  static void* const library = ::dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<AddressOf>(::dlsym(library, "clGetExtensionFunctionAddress")) : nullptr;
}

void take_over(cl_platform_id platform) {
  cl_icd_dispatch* table = nullptr;
  std::memcpy(&table, platform, sizeof table);
  pocl = *table;
  constexpr uintptr_t Page = 4096;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(table) & ~(Page - 1);
  ::mprotect(reinterpret_cast<void*>(begin), sizeof *table + Page, PROT_READ | PROT_WRITE);
  change(*table, platform);
}

}  // namespace
}  // namespace gt::wrapped

using namespace gt::wrapped;

EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id* platforms, cl_uint* count) {
  const AddressOf address = address_of();
  const auto ids = address ? reinterpret_cast<PlatformIds>(address("clIcdGetPlatformIDsKHR")) : nullptr;
  const cl_int code = ids ? ids(n, platforms, count) : CL_INVALID_VALUE;
  static std::once_flag once;
  if (code == CL_SUCCESS && platforms && n > 0) std::call_once(once, [&] { take_over(platforms[0]); });
  return code;
}

EXPORTED void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  const AddressOf address = address_of();
  return address ? address(name) : nullptr;
}
