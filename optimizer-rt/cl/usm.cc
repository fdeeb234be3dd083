// The one emulation of the process, and what it must see of the program's calls.
#include "optimizer-rt/cl/usm.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "optimizer-rt/cl/real.h"
#include "traces/base/reentry.h"
#include "traces/base/unwatched.h"
#include "transport/usm/functions.h"

namespace gt::opt {
namespace {

using usm::EmulatedUsm;
constexpr const char* Extension = "cl_intel_unified_shared_memory";

ClFunctions real_functions_for_usm() {
  struct Real : ClFunctions {  // which names the uses
    Real() {
#define GT_CL_FUNCTION(use, name) \
  if constexpr (((use)&Usm) != 0) this->name = GT_REAL(name);
#include "transport/opencl/functions.def"
    }
  };
  return Real();
}

EmulatedUsm* make() {
  const char* const asked = std::getenv(EmulateUsmVariable);
  if (!asked || std::strcmp(asked, "1") != 0) return nullptr;
  const ClFunctions functions = real_functions_for_usm();
  EmulatedUsm* const one = functions.has(ClFunctions::Usm) ? new (std::nothrow) EmulatedUsm(functions) : nullptr;
  if (one) usm::provide(one);
  return one;
}
// Never destroyed. nullptr: not asked for, or the loader is older than OpenCL 2.0.
EmulatedUsm* emulated() noexcept {
  static EmulatedUsm* const one = make();
  return one;
}

template <class R, class Body>
R guarded(R otherwise, Body body) noexcept {
  const Reentry inside;  // what it allocates is not the program's
  const Unwatched unwatched;
  try {
    return body(*emulated());
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}
template <class Body>
cl_int coded(Body body) noexcept {
  return guarded(cl_int{CL_OUT_OF_HOST_MEMORY}, body);
}

cl_int answer(const void* found, size_t bytes, size_t size, void* value, size_t* size_ret) {
  if (value && size < bytes) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found, bytes);
  if (size_ret) *size_ret = bytes;
  return CL_SUCCESS;
}

// What the driver answers, as a list of T. Empty: an error.
template <class T>
std::vector<T> real_list(cl_device_id device, cl_device_info what) {
  size_t n = 0;
  const auto ask = GT_REAL(clGetDeviceInfo);
  if (ask(device, what, 0, nullptr, &n) != CL_SUCCESS) return {};
  std::vector<T> list(n / sizeof(T));
  return ask(device, what, n, list.data(), nullptr) == CL_SUCCESS ? list : std::vector<T>();
}

bool device_info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret, cl_int* result) {
  static const ClFunctions functions = real_functions_for_usm();
  if (!usm::may_be_emulated(functions, device)) return false;
  if (cl_device_unified_shared_memory_capabilities_intel can = 0; usm::capabilities(functions, device, what, &can)) {
    *result = answer(&can, sizeof can, size, value, size_ret);
    return true;
  }
  if (what == CL_DEVICE_EXTENSIONS_WITH_VERSION) {
    auto list = real_list<cl_name_version>(device, what);
    if (list.empty()) return false;
    cl_name_version us = {CL_MAKE_VERSION(1, 0, 0), {}};
    std::strncpy(us.name, Extension, sizeof us.name - 1);
    list.push_back(us);
    *result = answer(list.data(), list.size() * sizeof us, size, value, size_ret);
    return true;
  }
  const auto driver = real_list<char>(device, what);
  if (driver.empty()) return false;
  std::string all = driver.data();
  if (!all.empty() && all.back() != ' ') all += ' ';
  all += Extension;
  *result = answer(all.c_str(), all.size() + 1, size, value, size_ret);
  return true;
}

}  // namespace

void* usm_function(const char* name) noexcept {
  if (!emulated() || !name) return nullptr;
  return usm::function(name);
}

bool usm_device_info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret,
                     cl_int* result) noexcept {
  const bool is_about =
      what == CL_DEVICE_EXTENSIONS || what == CL_DEVICE_EXTENSIONS_WITH_VERSION ||
      (what >= CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL && what <= CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL);
  if (!is_about || !emulated()) return false;
  return guarded(false, [&](EmulatedUsm&) { return device_info(device, what, size, value, size_ret, result); });
}

bool usm_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size, const void* value,
                   cl_int* result) noexcept {
  if (!emulated()) return false;
  return guarded(false, [&](EmulatedUsm& u) { return u.exec_info(kernel, what, size, value, result); });
}

bool usm_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                const size_t* global, const size_t* local, EmulatedUsm::Waits waits, cl_event* event,
                cl_int* result) noexcept {
  EmulatedUsm* const us = emulated();
  if (!us || !us->concerns(kernel)) return false;
  *result = coded([&](EmulatedUsm& u) {
    return u.launch(queue, kernel, waits, event, [&](EmulatedUsm::Waits w, cl_event* e) {
      return GT_REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, w.count, w.list, e);
    });
  });
  return true;
}

namespace {

// Where there is no memory to remember it with, the kernel or queue is taken for one that uses none.
template <class... A, class... Given>
void note(void (EmulatedUsm::*what)(A...), Given... handles) noexcept {
  if (emulated() && (handles && ...)) coded([&](EmulatedUsm& u) { return (u.*what)(handles...), CL_SUCCESS; });
}

}  // namespace

void usm_kernel_made(cl_kernel kernel) noexcept { note(&EmulatedUsm::kernel_made, kernel); }
void usm_kernel_cloned(cl_kernel from, cl_kernel to) noexcept { note(&EmulatedUsm::kernel_cloned, from, to); }
void usm_kernel_retained(cl_kernel kernel) noexcept { note(&EmulatedUsm::kernel_retained, kernel); }
void usm_kernel_releasing(cl_kernel kernel) noexcept { note(&EmulatedUsm::kernel_releasing, kernel); }
void usm_queue_made(cl_command_queue queue) noexcept { note(&EmulatedUsm::queue_made, queue); }
void usm_queue_retained(cl_command_queue queue) noexcept { note(&EmulatedUsm::queue_retained, queue); }
void usm_queue_releasing(cl_command_queue queue) noexcept { note(&EmulatedUsm::queue_releasing, queue); }

}  // namespace gt::opt
