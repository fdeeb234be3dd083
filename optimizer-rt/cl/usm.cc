// The one emulation of the process, and what it must see of the program's calls.
#include "optimizer-rt/cl/usm.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "optimizer-rt/cl/real.h"
#include "traces/base/reentry.h"
#include "traces/base/unwatched.h"
#include "transport/usm/functions.h"

namespace gt::opt {
namespace {

using usm::EmulatedUsm;

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
  return one && usm::provide(*one) ? one : nullptr;
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

}  // namespace

void* usm_function(const char* name) noexcept {
  if (!emulated() || !name) return nullptr;
  return usm::function(*emulated(), name);
}

bool usm_device_info(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* size_ret,
                     cl_int* result) noexcept {
  if (!usm::is_about_usm(what) || !emulated()) return false;
  return guarded(false, [&](EmulatedUsm&) {
    static const ClFunctions functions = real_functions_for_usm();
    if (!usm::may_be_emulated(functions, device)) return false;
    return usm::device_info(functions, device, what, size, value, size_ret, result);
  });
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
