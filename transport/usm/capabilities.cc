// What a device can do, and what its driver says.
#include <cstring>
#include <string>
#include <vector>

#include "transport/usm/emulated_usm.h"

namespace gt::usm {
namespace {

constexpr const char* Extension = "cl_intel_unified_shared_memory";

cl_device_svm_capabilities svm_of(const ClFunctions& cl, cl_device_id device) {
  cl_device_svm_capabilities found = 0;
  const bool known =
      cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof found, &found, nullptr) == CL_SUCCESS;
  return known ? found : 0;
}

cl_int answer(const void* found, size_t bytes, size_t size, void* value, size_t* size_ret) {
  if (value && size < bytes) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found, bytes);
  if (size_ret) *size_ret = bytes;
  return CL_SUCCESS;
}

// What the driver answers, as a list of T. Empty: an error.
template <class T>
std::vector<T> list_of(const ClFunctions& cl, cl_device_id device, cl_device_info what) {
  size_t n = 0;
  if (cl.clGetDeviceInfo(device, what, 0, nullptr, &n) != CL_SUCCESS) return {};
  std::vector<T> list(n / sizeof(T));
  return cl.clGetDeviceInfo(device, what, n, list.data(), nullptr) == CL_SUCCESS ? list : std::vector<T>();
}

}  // namespace

bool may_be_emulated(const ClFunctions& cl, cl_device_id device) {
  if (!(svm_of(cl, device) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return false;
  const std::vector<char> extensions = list_of<char>(cl, device, CL_DEVICE_EXTENSIONS);
  return !extensions.empty() && std::string(extensions.data(), extensions.size()).find(Extension) == std::string::npos;
}

bool is_about_usm(cl_device_info what) {
  return what == CL_DEVICE_EXTENSIONS || what == CL_DEVICE_EXTENSIONS_WITH_VERSION ||
         (what >= CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL && what <= CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL);
}

bool device_info(const ClFunctions& cl, cl_device_id device, cl_device_info what, size_t size, void* value,
                 size_t* size_ret, cl_int* result) {
  if (cl_device_unified_shared_memory_capabilities_intel can = 0; capabilities(cl, device, what, &can)) {
    *result = answer(&can, sizeof can, size, value, size_ret);
    return true;
  }
  if (what == CL_DEVICE_EXTENSIONS_WITH_VERSION) {
    auto list = list_of<cl_name_version>(cl, device, what);
    if (list.empty()) return false;
    cl_name_version us = {CL_MAKE_VERSION(1, 0, 0), {}};
    std::strncpy(us.name, Extension, sizeof us.name - 1);
    list.push_back(us);
    *result = answer(list.data(), list.size() * sizeof us, size, value, size_ret);
    return true;
  }
  if (what != CL_DEVICE_EXTENSIONS) return false;
  const auto driver = list_of<char>(cl, device, what);
  if (driver.empty()) return false;
  std::string all(driver.data(), ::strnlen(driver.data(), driver.size()));
  if (!all.empty() && all.back() != ' ') all += ' ';
  all += Extension;
  *result = answer(all.c_str(), all.size() + 1, size, value, size_ret);
  return true;
}

bool capabilities(const ClFunctions& cl, cl_device_id device, cl_device_info what,
                  cl_device_unified_shared_memory_capabilities_intel* out) {
  const cl_device_svm_capabilities svm = svm_of(cl, device);
  const bool fine = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0, atomics = fine && (svm & CL_DEVICE_SVM_ATOMICS) != 0;
  cl_device_unified_shared_memory_capabilities_intel shared = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
  if (fine) shared |= CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  if (atomics)
    shared |= CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
  switch (what) {
    case CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
      *out = shared;
      return true;
    case CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL:  // its own atomics, on its own memory
      *out = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
      return true;
    case CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL:
    case CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL:
      *out = 0;
      return true;
    default:
      return false;
  }
}

}  // namespace gt::usm
