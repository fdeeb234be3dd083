// Creating, retaining and releasing the fake's objects.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/fake_cl/behaviour.h"
#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/held.h"

namespace gt::fake {
namespace {

void tell(cl_int* errcode_ret, cl_int code) {
  if (errcode_ret) *errcode_ret = code;
}
template <class T>
T* fail(cl_int* errcode_ret, cl_int code) {
  tell(errcode_ret, code);
  return nullptr;
}
template <class T>
cl_int retain(T* object, cl_int invalid) {
  if (!object) return invalid;
  ++object->references;
  return CL_SUCCESS;
}
template <class T>
cl_int release(T* object, cl_int invalid) {
  if (!object) return invalid;
  Ref<T>::release(object);
  return CL_SUCCESS;
}

// The parameters in "(a, b(c, d), e)": 3; "()" and "(void)" have none.
cl_uint count_params(const std::string& source, size_t open) {
  cl_uint commas = 0;
  int depth = 0;
  std::string words;
  for (size_t i = open; i < source.size(); ++i) {
    const char c = source[i];
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (depth == 0) break;
    if (c == ',' && depth == 1) ++commas;
    if (c != '(' && !std::isspace(static_cast<unsigned char>(c))) words += c;
  }
  return words.empty() || words == "void" ? 0 : commas + 1;
}

// Every "kernel void NAME(" in the source.
std::vector<KernelSource> kernels_in(const std::string& source) {
  std::vector<KernelSource> out;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = source.find("kernel"); at != std::string::npos;
       at = source.find("kernel", at + 1)) {
    size_t i = source.find("void", at);
    if (i == std::string::npos || i > at + 80) continue;
    i += 4;
    while (i < source.size() && std::isspace(static_cast<unsigned char>(source[i]))) ++i;
    size_t end = i;
    while (end < source.size() && is_word(source[end])) ++end;
    const std::string name = source.substr(i, end - i);
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const KernelSource& k) { return k.name == name; });
    if (!name.empty() && !known) out.push_back({name, count_params(source, source.find('(', end))});
  }
  return out;
}

// A sub-buffer's flags (OpenCL 3.0, section 5.2.1): of each group that it does not name, its buffer's.
cl_mem_flags inherited(cl_mem_flags flags, cl_mem_flags parent) {
  constexpr cl_mem_flags Groups[] = {CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                     CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR,
                                     CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS};
  for (const cl_mem_flags group : Groups)
    if (!(flags & group)) flags |= parent & group;
  return flags;
}

// Takes the descriptor, as OpenCL does.
cl_mem import_memory(cl_context c, cl_mem_flags flags, int descriptor, size_t size, cl_int* err) {
  if (!c) return fail<_cl_mem>(err, CL_INVALID_CONTEXT);
  void* const base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) return fail<_cl_mem>(err, CL_INVALID_VALUE);
  ::close(descriptor);
  auto* mem = new _cl_mem;
  mem->context = Ref<_cl_context>(c);
  mem->flags = flags;
  mem->size = size;
  mem->data = static_cast<uint8_t*>(base);
  mem->imported = true;
  tell(err, CL_SUCCESS);
  return mem;
}

_cl_kernel* make_kernel(_cl_program* program, const KernelSource& source) {
  auto* kernel = new _cl_kernel;
  kernel->program = Ref<_cl_program>(program);
  kernel->source = source;
  return kernel;
}

}  // namespace

// --- Contexts, devices, queues ---
cl_context fake_clCreateContext(const cl_context_properties* properties, cl_uint n,
                                const cl_device_id* devices,
                                void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                                void* data, cl_int* err) {
  if (n == 0 || !devices) return fail<_cl_context>(err, CL_INVALID_VALUE);
  if (std::any_of(devices, devices + n, [](cl_device_id d) { return !is_device(d); }))
    return fail<_cl_context>(err, CL_INVALID_DEVICE);
  if (!notify && data) return fail<_cl_context>(err, CL_INVALID_VALUE);
  auto* context = new _cl_context;
  context->devices.assign(devices, devices + n);
  context->notify = notify;
  context->notify_data = data;
  while (properties && *properties) {
    context->properties.insert(context->properties.end(), properties, properties + 2);
    properties += 2;
  }
  if (!context->properties.empty()) context->properties.push_back(0);
  tell(err, CL_SUCCESS);
  return context;
}
cl_context fake_clCreateContextFromType(
    const cl_context_properties* properties, cl_device_type type,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* err) {
  if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
    return fail<_cl_context>(err, CL_DEVICE_NOT_FOUND);
  const cl_device_id d = device();
  return fake_clCreateContext(properties, 1, &d, notify, data, err);
}
cl_int fake_clRetainContext(cl_context c) { return retain(c, CL_INVALID_CONTEXT); }
cl_int fake_clReleaseContext(cl_context c) { return release(c, CL_INVALID_CONTEXT); }
cl_int fake_clRetainDevice(cl_device_id d) {
  return is_device(d) ? CL_SUCCESS : CL_INVALID_DEVICE;
}
cl_int fake_clReleaseDevice(cl_device_id d) {
  return is_device(d) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_command_queue fake_clCreateCommandQueue(cl_context c, cl_device_id d,
                                           cl_command_queue_properties properties, cl_int* err) {
  if (!c) return fail<_cl_command_queue>(err, CL_INVALID_CONTEXT);
  if (!is_device(d)) return fail<_cl_command_queue>(err, CL_INVALID_DEVICE);
  auto* queue = new _cl_command_queue;
  queue->context = Ref<_cl_context>(c);
  queue->device = d;
  queue->properties = properties;
  tell(err, CL_SUCCESS);
  return queue;
}
cl_command_queue fake_clCreateCommandQueueWithProperties(cl_context c, cl_device_id d,
                                                         const cl_queue_properties* list,
                                                         cl_int* err) {
  cl_command_queue_properties properties = 0;
  for (const cl_queue_properties* p = list; p && *p; p += 2)
    if (*p == CL_QUEUE_PROPERTIES) properties = p[1];
  cl_command_queue queue = fake_clCreateCommandQueue(c, d, properties, err);
  for (const cl_queue_properties* p = list; queue && p && *p; p += 2)
    queue->list.insert(queue->list.end(), p, p + 2);
  if (queue && list) queue->list.push_back(0);
  return queue;
}
cl_int fake_clRetainCommandQueue(cl_command_queue q) { return retain(q, CL_INVALID_COMMAND_QUEUE); }
cl_int fake_clSetCommandQueueProperty(cl_command_queue q, cl_command_queue_properties properties, cl_bool on,
                                      cl_command_queue_properties* old) {
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (old) *old = q->properties;
  q->properties = on ? q->properties | properties : q->properties & ~properties;
  return CL_SUCCESS;
}
cl_int fake_clReleaseCommandQueue(cl_command_queue q) {
  return release(q, CL_INVALID_COMMAND_QUEUE);
}

// --- Memory ---
cl_mem fake_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void* host_ptr,
                           cl_int* err) {
  if (!c) return fail<_cl_mem>(err, CL_INVALID_CONTEXT);
  if (size == 0 || size > behaviour().largest_buffer) return fail<_cl_mem>(err, CL_INVALID_BUFFER_SIZE);
  const bool asked = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  if (asked != (host_ptr != nullptr)) return fail<_cl_mem>(err, CL_INVALID_HOST_PTR);
  auto* mem = new _cl_mem;
  mem->context = Ref<_cl_context>(c);
  mem->flags = flags;
  mem->size = size;
  if (flags & CL_MEM_USE_HOST_PTR) {
    mem->data = static_cast<uint8_t*>(host_ptr);
    mem->host_ptr = host_ptr;
  } else {
    try {
      mem->own.resize(size);
    } catch (const std::bad_alloc&) {
      delete mem;
      return fail<_cl_mem>(err, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    mem->data = mem->own.data();
    if (host_ptr) std::memcpy(mem->data, host_ptr, size);
  }
  tell(err, CL_SUCCESS);
  return mem;
}
cl_mem fake_clCreateBufferWithProperties(cl_context c, const cl_mem_properties* properties,
                                         cl_mem_flags flags, size_t size, void* host_ptr,
                                         cl_int* err) {
  constexpr cl_mem_properties OpaqueDescriptor = 0x2060;  // cl_khr_external_memory_opaque_fd
  if (behaviour().imports_memory && properties && *properties == OpaqueDescriptor)
    return import_memory(c, flags, static_cast<int>(properties[1]), size, err);
  constexpr cl_mem_properties PrivateAddress = 0x5000;  // cl_ext_buffer_device_address
  const bool addressed = behaviour().is_newer && properties && *properties == PrivateAddress;
  if (properties && *properties && !addressed) return fail<_cl_mem>(err, CL_INVALID_PROPERTY);
  return fake_clCreateBuffer(c, flags, size, host_ptr, err);
}
cl_mem fake_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                              const void* info, cl_int* err) {
  if (!parent || parent->parent.get()) return fail<_cl_mem>(err, CL_INVALID_MEM_OBJECT);
  const auto* region = static_cast<const cl_buffer_region*>(info);
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !region) return fail<_cl_mem>(err, CL_INVALID_VALUE);
  if (region->size == 0) return fail<_cl_mem>(err, CL_INVALID_BUFFER_SIZE);
  if (region->origin > parent->size || region->size > parent->size - region->origin)
    return fail<_cl_mem>(err, CL_INVALID_VALUE);
  auto* mem = new _cl_mem;
  mem->context = Ref<_cl_context>(parent->context.get());
  mem->parent = Ref<_cl_mem>(parent);
  mem->flags = inherited(flags, parent->flags);
  mem->size = region->size;
  mem->offset = region->origin;
  mem->data = parent->data + region->origin;
  tell(err, CL_SUCCESS);
  return mem;
}
cl_int fake_clRetainMemObject(cl_mem m) { return retain(m, CL_INVALID_MEM_OBJECT); }
cl_int fake_clReleaseMemObject(cl_mem m) { return release(m, CL_INVALID_MEM_OBJECT); }
void* fake_clSVMAlloc(cl_context c, cl_svm_mem_flags, size_t size, cl_uint alignment) {
  if (!c || size == 0) return nullptr;
  void* p = nullptr;
  return posix_memalign(&p, std::max<size_t>(alignment, 128), size) == 0 ? p : nullptr;
}
void fake_clSVMFree(cl_context, void* p) { std::free(p); }

// --- Programs and kernels ---
cl_program fake_clCreateProgramWithSource(cl_context c, cl_uint n, const char** strings,
                                          const size_t* lengths, cl_int* err) {
  if (!c) return fail<_cl_program>(err, CL_INVALID_CONTEXT);
  if (n == 0 || !strings || std::any_of(strings, strings + n, [](const char* s) { return !s; }))
    return fail<_cl_program>(err, CL_INVALID_VALUE);
  auto* program = new _cl_program;
  program->context = Ref<_cl_context>(c);
  for (cl_uint i = 0; i < n; ++i)
    program->source +=
        lengths && lengths[i] ? std::string(strings[i], lengths[i]) : std::string(strings[i]);
  program->kernels = kernels_in(program->source);
  tell(err, CL_SUCCESS);
  return program;
}
// A source with "#error" does not build.
cl_int fake_clBuildProgram(cl_program p, cl_uint, const cl_device_id*, const char* options,
                           void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  if (!p) return CL_INVALID_PROGRAM;
  p->options = options ? options : "";
  p->built = p->source.find("#error") == std::string::npos;
  // What cannot be built is reported to the context as well.
  cl_context c = p->context.get();
  if (!p->built && c->notify) call_back([c] { c->notify("#error", "\0\1", 2, c->notify_data); });
  if (notify) call_back([&] { notify(p, data); });
  return p->built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}
cl_int fake_clRetainProgram(cl_program p) { return retain(p, CL_INVALID_PROGRAM); }
cl_int fake_clReleaseProgram(cl_program p) { return release(p, CL_INVALID_PROGRAM); }

cl_kernel fake_clCreateKernel(cl_program p, const char* name, cl_int* err) {
  if (!p) return fail<_cl_kernel>(err, CL_INVALID_PROGRAM);
  if (!p->built) return fail<_cl_kernel>(err, CL_INVALID_PROGRAM_EXECUTABLE);
  for (const KernelSource& kernel : p->kernels) {
    if (!name || kernel.name != name) continue;
    tell(err, CL_SUCCESS);
    return make_kernel(p, kernel);
  }
  return fail<_cl_kernel>(err, CL_INVALID_KERNEL_NAME);
}
cl_int fake_clCreateKernelsInProgram(cl_program p, cl_uint n, cl_kernel* kernels, cl_uint* n_ret) {
  if (!p) return CL_INVALID_PROGRAM;
  if (!p->built) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (kernels && n < p->kernels.size()) return CL_INVALID_VALUE;
  for (size_t i = 0; kernels && i < p->kernels.size(); ++i)
    kernels[i] = make_kernel(p, p->kernels[i]);
  if (n_ret) *n_ret = static_cast<cl_uint>(p->kernels.size());
  return CL_SUCCESS;
}
cl_kernel fake_clCloneKernel(cl_kernel k, cl_int* err) {
  if (!k) return fail<_cl_kernel>(err, CL_INVALID_KERNEL);
  cl_kernel clone = make_kernel(k->program.get(), k->source);
  clone->args = k->args;
  tell(err, CL_SUCCESS);
  return clone;
}
cl_int fake_clRetainKernel(cl_kernel k) { return retain(k, CL_INVALID_KERNEL); }
cl_int fake_clReleaseKernel(cl_kernel k) { return release(k, CL_INVALID_KERNEL); }
cl_int fake_clSetKernelArg(cl_kernel k, cl_uint index, size_t size, const void* value) {
  if (!k) return CL_INVALID_KERNEL;
  if (index >= k->source.args) return CL_INVALID_ARG_INDEX;
  if (size == 0 && (value || !behaviour().is_newer)) return CL_INVALID_ARG_SIZE;
  if (k->args.size() <= index) k->args.resize(index + 1);
  const auto* bytes = static_cast<const uint8_t*>(value);
  if (bytes)
    k->args[index].assign(bytes, bytes + size);
  else
    k->args[index].clear();  // local memory
  return CL_SUCCESS;
}
cl_int fake_clSetKernelArgSVMPointer(cl_kernel k, cl_uint index, const void* pointer) {
  return fake_clSetKernelArg(k, index, sizeof pointer, &pointer);
}

// --- Events ---
cl_event fake_clCreateUserEvent(cl_context c, cl_int* err) {
  if (!c) return fail<_cl_event>(err, CL_INVALID_CONTEXT);
  auto* event = new _cl_event;
  event->context = Ref<_cl_context>(c);
  event->type = CL_COMMAND_USER;
  event->status = CL_SUBMITTED;
  tell(err, CL_SUCCESS);
  return event;
}
cl_int fake_clSetUserEventStatus(cl_event e, cl_int status) {
  if (!e || e->type != CL_COMMAND_USER) return CL_INVALID_EVENT;
  if (status > 0) return CL_INVALID_VALUE;
  if (e->status <= CL_COMPLETE) return CL_INVALID_OPERATION;
  e->status = status;
  e->waiting.happened(false);
  run_what_may();
  return CL_SUCCESS;
}
cl_int fake_clRetainEvent(cl_event e) { return retain(e, CL_INVALID_EVENT); }
cl_int fake_clReleaseEvent(cl_event e) { return release(e, CL_INVALID_EVENT); }

}  // namespace gt::fake
