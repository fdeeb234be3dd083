// What a device can do, and what its driver says.
#include <cstring>
#include <string>

#include "transport/usm/emulated_usm.h"

namespace gt::usm {
namespace {

cl_device_svm_capabilities svm_of(const ClFunctions& cl, cl_device_id device) {
  cl_device_svm_capabilities found = 0;
  const bool known =
      cl.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof found, &found, nullptr) == CL_SUCCESS;
  return known ? found : 0;
}

}  // namespace

bool may_be_emulated(const ClFunctions& cl, cl_device_id device) {
  if (!(svm_of(cl, device) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return false;
  size_t n = 0;
  if (cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &n) != CL_SUCCESS) return false;
  std::string extensions(n, '\0');
  if (cl.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, n, extensions.data(), nullptr) != CL_SUCCESS) return false;
  return extensions.find("cl_intel_unified_shared_memory") == std::string::npos;
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
