// What the fake tells of itself.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/newer.h"

namespace gt::fake {
namespace {

// Where the answer to a query goes.
struct Answer {
  size_t room;
  void* to;
  size_t* size_ret;

  cl_int bytes(const void* p, size_t n) const {
    if (size_ret) *size_ret = n;
    if (!to) return CL_SUCCESS;
    if (room < n) return CL_INVALID_VALUE;
    if (n) std::memcpy(to, p, n);
    return CL_SUCCESS;
  }
  template <class T>
  cl_int value(const T& v) const {
    return bytes(&v, sizeof v);
  }
  cl_int text(const std::string& s) const { return bytes(s.c_str(), s.size() + 1); }
  template <class T>
  cl_int list(const std::vector<T>& v) const {
    return bytes(v.data(), v.size() * sizeof(T));
  }
};

constexpr cl_device_info DeviceUuid = 0x106A;
constexpr cl_mem_info DeviceAddress = 0x5001;

std::string extensions() {
  if (behaviour().is_newer) return "cl_khr_icd " + newer_extensions();
  return std::string("cl_khr_icd") + (behaviour().imports_memory ? " cl_khr_external_memory_opaque_fd" : "");
}

}  // namespace

cl_int fake_clGetPlatformIDs(cl_uint n, cl_platform_id* list, cl_uint* n_ret) {
  if (behaviour().start == Behaviour::Start::Crashes) ::raise(SIGSEGV);
  while (behaviour().start == Behaviour::Start::Hangs) ::pause();
  if ((n == 0 && list) || (!list && !n_ret)) return CL_INVALID_VALUE;
  if (list) *list = platform();
  if (n_ret) *n_ret = 1;
  return CL_SUCCESS;
}
cl_int fake_clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id* list, cl_uint* n_ret) {
  return fake_clGetPlatformIDs(n, list, n_ret);
}
cl_int fake_clGetPlatformInfo(cl_platform_id p, cl_platform_info name, size_t size, void* value,
                              size_t* ret) {
  if (p && p != platform()) return CL_INVALID_PLATFORM;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_PLATFORM_PROFILE:
      return answer.text("FULL_PROFILE");
    case CL_PLATFORM_VERSION:
      return answer.text("OpenCL 3.0 fake_cl");
    case CL_PLATFORM_NAME:
      return answer.text(behaviour().devices ? "Fake OpenCL" : "Empty");
    case CL_PLATFORM_VENDOR:
      return answer.text("gtrace tests");
    case CL_PLATFORM_EXTENSIONS:
      return answer.text(extensions());
    case CL_PLATFORM_NUMERIC_VERSION:
      return answer.value(cl_version{CL_MAKE_VERSION(3, 0, 0)});
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
      return answer.value(cl_ulong{1});
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return answer.text("FAKE");
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id* list,
                           cl_uint* n_ret) {
  if (p && p != platform()) return CL_INVALID_PLATFORM;
  if (type == 0) return CL_INVALID_DEVICE_TYPE;
  const cl_uint count = behaviour().devices;
  if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) || count == 0) {
    if (n_ret) *n_ret = 0;
    return CL_DEVICE_NOT_FOUND;
  }
  if ((n == 0 && list) || (!list && !n_ret)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; list && i < std::min(n, count); ++i) list[i] = device(i);
  if (n_ret) *n_ret = count;
  return CL_SUCCESS;
}
cl_int fake_clGetDeviceInfo(cl_device_id d, cl_device_info name, size_t size, void* value,
                            size_t* ret) {
  if (!is_device(d)) return CL_INVALID_DEVICE;
  const Answer answer{size, value, ret};
  if (behaviour().is_newer)
    if (const auto newer = newer_device_info(name)) return answer.list(*newer);
  switch (name) {
    case DeviceUuid:
      return behaviour().imports_memory ? answer.value(std::array<unsigned char, 16>{0, 0, 0, d->number})
                                        : CL_INVALID_VALUE;
    case CL_DEVICE_TYPE:
      return answer.value(cl_device_type{CL_DEVICE_TYPE_GPU});
    case CL_DEVICE_NAME:
      return answer.text("Fake device");
    case CL_DEVICE_VENDOR:
      return answer.text("gtrace tests");
    case CL_DEVICE_VERSION:
      return answer.text("OpenCL 3.0 fake_cl");
    case CL_DRIVER_VERSION:
      return answer.text("1.0");
    case CL_DEVICE_OPENCL_C_VERSION:
      return answer.text("OpenCL C 1.2 fake_cl");
    case CL_DEVICE_PROFILE:
      return answer.text("FULL_PROFILE");
    case CL_DEVICE_EXTENSIONS:
      return answer.text(extensions());
    case CL_DEVICE_EXTENSIONS_WITH_VERSION: {
      const cl_version version = CL_MAKE_VERSION(0, 9, behaviour().has_later_forms ? 8 : 0);
      const cl_name_version list[] = {{version, "cl_khr_command_buffer"},
                                      {version, "cl_khr_command_buffer_mutable_dispatch"}};
      return answer.value(list);
    }
    case CL_DEVICE_PLATFORM:
      return answer.value(platform());
    case CL_DEVICE_PARENT_DEVICE:
      return answer.value(cl_device_id{});
    case CL_DEVICE_VENDOR_ID:
      return answer.value(cl_uint{behaviour().vendor_id});
    case CL_DEVICE_REFERENCE_COUNT:
      return answer.value(cl_uint{1});
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return answer.value(cl_uint{4});
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return answer.value(cl_uint{1000});
    case CL_DEVICE_ADDRESS_BITS:
      return answer.value(cl_uint{64});
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
      return answer.value(cl_uint{1024});
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
      return answer.value(cl_uint{3});
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return answer.list(std::vector<size_t>{1024, 1024, 1024});
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return answer.value(size_t{1024});
    case CL_DEVICE_MAX_PARAMETER_SIZE:
      return answer.value(size_t{4096});
    case CL_DEVICE_NUMERIC_VERSION:
      return answer.value(cl_version{CL_MAKE_VERSION(3, 0, 0)});
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
      return answer.value(size_t{1});
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return answer.value(cl_ulong{4} << 30);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return answer.value(cl_ulong{behaviour().largest_buffer});
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return answer.value(cl_ulong{65536});
    case CL_DEVICE_QUEUE_PROPERTIES:
      return answer.value(cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE |
                                                      CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE});
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
      return answer.value(cl_bool{CL_TRUE});
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
      return answer.value(cl_bool{CL_FALSE});
    case CL_DEVICE_SVM_CAPABILITIES:
      return answer.value(cl_device_svm_capabilities{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER});
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetContextInfo(cl_context c, cl_context_info name, size_t size, void* value,
                             size_t* ret) {
  if (!c) return CL_INVALID_CONTEXT;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_CONTEXT_REFERENCE_COUNT:
      return answer.value(c->references.load());
    case CL_CONTEXT_NUM_DEVICES:
      return answer.value(static_cast<cl_uint>(c->devices.size()));
    case CL_CONTEXT_DEVICES:
      return answer.list(c->devices);
    case CL_CONTEXT_PROPERTIES:
      return answer.list(c->properties);
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info name, size_t size,
                                  void* value, size_t* ret) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_QUEUE_CONTEXT:
      return answer.value(q->context.get());
    case CL_QUEUE_DEVICE:
      return answer.value(q->device);
    case CL_QUEUE_REFERENCE_COUNT:
      return answer.value(q->references.load());
    case CL_QUEUE_PROPERTIES:
      return answer.value(q->properties);
    case CL_QUEUE_PROPERTIES_ARRAY:
      return answer.list(q->list);
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetMemObjectInfo(cl_mem m, cl_mem_info name, size_t size, void* value, size_t* ret) {
  if (!m) return CL_INVALID_MEM_OBJECT;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_MEM_TYPE:
      return answer.value(cl_mem_object_type{CL_MEM_OBJECT_BUFFER});
    case CL_MEM_FLAGS:
      return answer.value(m->flags);
    case CL_MEM_SIZE:
      return answer.value(m->size);
    case CL_MEM_HOST_PTR:
      return answer.value(m->host_ptr);
    case CL_MEM_MAP_COUNT:
      return answer.value(m->maps.load());
    case CL_MEM_REFERENCE_COUNT:
      return answer.value(m->references.load());
    case CL_MEM_CONTEXT:
      return answer.value(m->context.get());
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return answer.value(m->parent.get());
    case CL_MEM_OFFSET:
      return answer.value(m->offset);
    case DeviceAddress:
      return behaviour().is_newer ? answer.value(tell_address(m->data, m->size)) : CL_INVALID_VALUE;
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetProgramInfo(cl_program p, cl_program_info name, size_t size, void* value,
                             size_t* ret) {
  if (!p) return CL_INVALID_PROGRAM;
  const Answer answer{size, value, ret};
  std::string names;
  for (const KernelSource& kernel : p->kernels) names += (names.empty() ? "" : ";") + kernel.name;
  switch (name) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer.value(p->references.load());
    case CL_PROGRAM_CONTEXT:
      return answer.value(p->context.get());
    case CL_PROGRAM_NUM_DEVICES:
      return answer.value(static_cast<cl_uint>(p->context.get()->devices.size()));
    case CL_PROGRAM_DEVICES:
      return answer.list(p->context.get()->devices);
    case CL_PROGRAM_SOURCE:
      return answer.text(p->source);
    case CL_PROGRAM_NUM_KERNELS:
      return answer.value(p->kernels.size());
    case CL_PROGRAM_KERNEL_NAMES:
      return answer.text(names);
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetProgramBuildInfo(cl_program p, cl_device_id, cl_program_build_info name,
                                  size_t size, void* value, size_t* ret) {
  if (!p) return CL_INVALID_PROGRAM;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer.value(cl_build_status{p->built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR});
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer.text(p->options);
    case CL_PROGRAM_BUILD_LOG:
      return answer.text(p->built ? "" : "fake_cl: #error");
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetKernelInfo(cl_kernel k, cl_kernel_info name, size_t size, void* value,
                            size_t* ret) {
  if (!k) return CL_INVALID_KERNEL;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_KERNEL_FUNCTION_NAME:
      return answer.text(k->source.name);
    case CL_KERNEL_NUM_ARGS:
      return answer.value(k->source.args);
    case CL_KERNEL_REFERENCE_COUNT:
      return answer.value(k->references.load());
    case CL_KERNEL_CONTEXT:
      return answer.value(k->program.get()->context.get());
    case CL_KERNEL_PROGRAM:
      return answer.value(k->program.get());
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id, cl_kernel_work_group_info name,
                                     size_t size, void* value, size_t* ret) {
  if (!k) return CL_INVALID_KERNEL;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return answer.value(size_t{1024});
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer.value(size_t{32});
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetEventInfo(cl_event e, cl_event_info name, size_t size, void* value, size_t* ret) {
  if (!e) return CL_INVALID_EVENT;
  const Answer answer{size, value, ret};
  switch (name) {
    case CL_EVENT_COMMAND_QUEUE:
      return answer.value(e->queue);
    case CL_EVENT_CONTEXT:
      return answer.value(e->context.get());
    case CL_EVENT_COMMAND_TYPE:
      return answer.value(e->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return answer.value(e->status.load());
    case CL_EVENT_REFERENCE_COUNT:
      return answer.value(e->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}
cl_int fake_clGetEventProfilingInfo(cl_event e, cl_profiling_info name, size_t size, void* value,
                                    size_t* ret) {
  if (!e) return CL_INVALID_EVENT;
  if (!e->profiled || e->status != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
  if (name == CL_PROFILING_COMMAND_COMPLETE) name = CL_PROFILING_COMMAND_END;
  if (name < CL_PROFILING_COMMAND_QUEUED || name > CL_PROFILING_COMMAND_END)
    return CL_INVALID_VALUE;
  return Answer{size, value, ret}.value(e->times[name - CL_PROFILING_COMMAND_QUEUED]);
}

}  // namespace gt::fake
