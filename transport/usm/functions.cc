#include "transport/usm/functions.h"

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "traces/base/reentry.h"
#include "traces/base/unwatched.h"

namespace gt::usm {
namespace {

std::array<std::atomic<EmulatedUsm*>, MostEmulations> g_emulated{};

template <class R, class Body>
R guarded(EmulatedUsm& emulated, R otherwise, Body body) noexcept {
  const Reentry inside;  // what it allocates is not the program's
  const Unwatched unwatched;
  try {
    return body(emulated);
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}

struct Row {
  const char* name;
  void* function;
};

// The functions of one emulation: they are given no more than drivers' functions are.
template <size_t Place>
struct Ours {
  static EmulatedUsm& emulated() { return *g_emulated[Place].load(std::memory_order_acquire); }
  template <class Body>
  static cl_int coded(Body body) noexcept {
    return guarded(emulated(), cl_int{CL_OUT_OF_HOST_MEMORY}, body);
  }
  static void* allocate(Memory memory, cl_context context, cl_device_id device,
                        const cl_mem_properties_intel* properties, size_t size, cl_uint alignment,
                        cl_int* error) noexcept {
    if (error) *error = CL_OUT_OF_HOST_MEMORY;
    return guarded(emulated(), static_cast<void*>(nullptr), [&](EmulatedUsm& u) {
      return u.allocate(memory, context, device, properties, size, alignment, error);
    });
  }

  static void* CL_API_CALL clHostMemAllocINTEL(cl_context c, const cl_mem_properties_intel* p, size_t n, cl_uint a,
                                               cl_int* error) {
    return allocate(Memory::Host, c, nullptr, p, n, a, error);
  }
  static void* CL_API_CALL clDeviceMemAllocINTEL(cl_context c, cl_device_id d, const cl_mem_properties_intel* p,
                                                 size_t n, cl_uint a, cl_int* error) {
    return allocate(Memory::Device, c, d, p, n, a, error);
  }
  static void* CL_API_CALL clSharedMemAllocINTEL(cl_context c, cl_device_id d, const cl_mem_properties_intel* p,
                                                 size_t n, cl_uint a, cl_int* error) {
    return allocate(Memory::Shared, c, d, p, n, a, error);
  }
  static cl_int CL_API_CALL clMemFreeINTEL(cl_context context, void* p) {
    return coded([&](EmulatedUsm& u) { return u.free(context, p, false); });
  }
  static cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context context, void* p) {
    return coded([&](EmulatedUsm& u) { return u.free(context, p, true); });
  }
  static cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context context, const void* p, cl_mem_info_intel what,
                                                   size_t size, void* value, size_t* size_ret) {
    return coded([&](EmulatedUsm& u) { return u.info(context, p, what, size, value, size_ret); });
  }
  static cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint index, const void* p) {
    return coded([&](EmulatedUsm& u) { return u.set_argument(kernel, index, p); });
  }
  static cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue queue, void* to, const void* pattern,
                                                  size_t pattern_size, size_t size, cl_uint n, const cl_event* list,
                                                  cl_event* event) {
    return coded([&](EmulatedUsm& u) { return u.fill(queue, to, pattern, pattern_size, size, {n, list}, event); });
  }
  static cl_int CL_API_CALL clEnqueueMemsetINTEL(cl_command_queue queue, void* to, cl_int value, size_t size, cl_uint n,
                                                 const cl_event* list, cl_event* event) {
    const auto byte = static_cast<unsigned char>(value);
    return coded([&](EmulatedUsm& u) { return u.fill(queue, to, &byte, 1, size, {n, list}, event); });
  }
  static cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue queue, cl_bool blocking, void* to, const void* from,
                                                 size_t size, cl_uint n, const cl_event* list, cl_event* event) {
    return coded([&](EmulatedUsm& u) { return u.copy(queue, blocking != CL_FALSE, to, from, size, {n, list}, event); });
  }
  static cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue queue, const void* p, size_t size,
                                                     cl_mem_migration_flags, cl_uint n, const cl_event* list,
                                                     cl_event* event) {
    return coded([&](EmulatedUsm& u) { return u.hint(queue, p, size, {n, list}, event); });
  }
  static cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue queue, const void* p, size_t size,
                                                    cl_mem_advice_intel, cl_uint n, const cl_event* list,
                                                    cl_event* event) {
    return coded([&](EmulatedUsm& u) { return u.hint(queue, p, size, {n, list}, event); });
  }
  static cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, size_t size,
                                                const void* value) {
    return coded([&](EmulatedUsm& u) { return u.set_exec_info(kernel, what, size, value); });
  }

  static void* function(const char* name) {
#define GT_ROW(NAME) \
  Row { #NAME, reinterpret_cast < void*>(&NAME) }
    static const Row rows[] = {
        GT_ROW(clHostMemAllocINTEL),      GT_ROW(clDeviceMemAllocINTEL),   GT_ROW(clSharedMemAllocINTEL),
        GT_ROW(clMemFreeINTEL),           GT_ROW(clMemBlockingFreeINTEL),  GT_ROW(clGetMemAllocInfoINTEL),
        GT_ROW(clEnqueueMemFillINTEL),    GT_ROW(clEnqueueMemsetINTEL),    GT_ROW(clEnqueueMemcpyINTEL),
        GT_ROW(clEnqueueMigrateMemINTEL), GT_ROW(clEnqueueMemAdviseINTEL), GT_ROW(clSetKernelArgMemPointerINTEL)};
#undef GT_ROW
    for (const Row& row : rows)
      if (std::strcmp(row.name, name) == 0) return row.function;
    return nullptr;
  }
};

struct OfPlace {
  void* (*function)(const char* name);
  decltype(&clSetKernelExecInfo) set_exec_info;
};
constexpr auto Places = []<size_t... I>(std::index_sequence<I...>) {
  return std::array<OfPlace, sizeof...(I)>{OfPlace{&Ours<I>::function, &Ours<I>::clSetKernelExecInfo}...};
}
(std::make_index_sequence<MostEmulations>{});

const OfPlace* place_of(const EmulatedUsm& emulated) {
  for (size_t i = 0; i < g_emulated.size(); ++i)
    if (g_emulated[i].load(std::memory_order_acquire) == &emulated) return &Places[i];
  return nullptr;
}

}  // namespace

bool provide(EmulatedUsm& emulated) noexcept {
  for (std::atomic<EmulatedUsm*>& place : g_emulated) {
    EmulatedUsm* none = nullptr;
    if (place.compare_exchange_strong(none, &emulated, std::memory_order_acq_rel)) return true;
  }
  return false;
}

decltype(&clSetKernelExecInfo) exec_info_function(const EmulatedUsm& emulated) noexcept {
  return place_of(emulated)->set_exec_info;
}

void* function(const EmulatedUsm& emulated, const char* name) noexcept { return place_of(emulated)->function(name); }

}  // namespace gt::usm
