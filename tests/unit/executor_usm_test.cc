// Unified shared memory in an executor, over a driver that gives its shared virtual memory for it (PoCL's is the
// host's): blocks by name and by address, and what is nobody's.
#include <CL/cl_ext.h>

#include <cstring>
#include <string_view>

#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;

template <class F>
F real(FnId fn) {
  return reinterpret_cast<F>(real_driver()[fn]);
}

void* CL_API_CALL allocate(cl_context context, cl_device_id, const cl_mem_properties_intel* list, size_t bytes,
                           cl_uint alignment, cl_int* code) {
  const bool known = !list || list[0] == 0 || (list[0] == CL_MEM_ALLOC_FLAGS_INTEL && list[2] == 0);
  *code = known ? CL_SUCCESS : CL_INVALID_PROPERTY;
  if (!known) return nullptr;
  return real<decltype(&::clSVMAlloc)>(FnId::clSVMAlloc)(context, CL_MEM_READ_WRITE, bytes, alignment);
}
cl_int CL_API_CALL free_memory(cl_context context, void* p) {
  real<decltype(&::clSVMFree)>(FnId::clSVMFree)(context, p);
  return CL_SUCCESS;
}
cl_int CL_API_CALL set(cl_command_queue queue, void* p, cl_int value, size_t bytes, cl_uint n, const cl_event* list,
                       cl_event* event) {
  const auto byte = static_cast<uint8_t>(value);
  return real<decltype(&::clEnqueueSVMMemFill)>(FnId::clEnqueueSVMMemFill)(queue, p, &byte, 1, bytes, n, list, event);
}

void* CL_API_CALL function(cl_platform_id, const char* name) {
  const std::string_view wanted = name;
  if (wanted == "clDeviceMemAllocINTEL") return reinterpret_cast<void*>(&allocate);
  if (wanted == "clMemFreeINTEL") return reinterpret_cast<void*>(&free_memory);
  if (wanted == "clEnqueueMemsetINTEL") return reinterpret_cast<void*>(&set);
  if (wanted == "clEnqueueMemcpyINTEL") return reinterpret_cast<void*>(real_driver()[FnId::clEnqueueSVMMemcpy]);
  if (wanted == "clSetKernelArgMemPointerINTEL")
    return reinterpret_cast<void*>(real_driver()[FnId::clSetKernelArgSVMPointer]);
  return nullptr;
}

Functions driver() {
  Functions functions = real_driver();
  functions.of[static_cast<size_t>(FnId::clGetExtensionFunctionAddressForPlatform)] =
      reinterpret_cast<AnyFunction>(&function);
  return functions;
}

struct Usm : Ready {
  explicit Usm(const Limits& limits = {}, const Functions& functions = driver()) : Ready(functions, limits) {}

  struct Block {
    ObjectId name = 0;
    uint64_t address = 0;
    cl_int code = 0;
    void* at(uint64_t offset) const { return reinterpret_cast<void*>(address + offset); }
  };
  Block allocate(size_t bytes, const cl_properties* list = nullptr) {
    Block block;
    block.name = new_id();
    cl_int code = 0;
    const auto answer = ask<FnId::clDeviceMemAllocINTEL>(
        block.name, named<cl_context>(context), named<cl_device_id>(surveyed.devices[0].id), list, bytes, 0u, &code);
    for (const api::DecodedArg& arg : answer) {
      if (arg.param == api::DecodedReturn) block.address = arg.value;
      if (arg.param == 5) block.code = static_cast<cl_int>(arg.value);
    }
    return block;
  }
  template <FnId F, class... A>
  cl_int refused(A... arguments) {
    call<F>(0, 0, arguments...);
    return failure().code;
  }
  cl_command_queue q() const { return named<cl_command_queue>(queue); }
};

TEST_CASE("an allocation is written and read by its name, and commands have its address") {
  Usm client;
  const cl_properties list[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
  const Usm::Block block = client.allocate(100, list), other = client.allocate(100);
  REQUIRE(block.address != 0);
  CHECK(client.executor->counters().memory_bytes == 200);
  client.write(client.queue, block.name, 10, as_bytes("hello"));
  client.call<FnId::clEnqueueMemcpyINTEL>(0, 0, client.q(), cl_bool{CL_FALSE}, other.at(3), block.at(10), size_t{5}, 0,
                                          nullptr, nullptr);
  client.call<FnId::clEnqueueMemsetINTEL>(0, 0, client.q(), other.at(4), cl_int{'x'}, size_t{2}, 0, nullptr, nullptr);
  CHECK(as_text(client.read(client.queue, other.name, 3, 5)) == "hxxlo");
  const ObjectId program = client.new_program("kernel void next(global uchar* p) { p[get_global_id(0)] += 1; }");
  const ObjectId kernel = client.new_kernel(program, "next");
  wire::KernelArg arg;
  arg.form = wire::KernelArg::Form::Svm;
  arg.object = block.address + 10;
  client.launch(kernel, 4, {arg});
  CHECK(as_text(client.read(client.queue, block.name, 10, 5)) == "ifmmo");
  client.call<FnId::clMemFreeINTEL>(0, 0, named<cl_context>(client.context), block.at(0));
  client.launch(kernel, 4, {arg});
  CHECK(client.failure().code == CL_INVALID_ARG_VALUE);
  CHECK(client.executor->counters().memory_bytes == 100);
}

// What the device says of its extensions.
std::string extensions_of(const wire::Surveyed& surveyed) {
  for (const wire::InfoValue& info : surveyed.devices.at(0).infos)
    if (info.name == CL_DEVICE_EXTENSIONS) return {info.value.begin(), info.value.end()};
  return {};
}

TEST_CASE("where the driver has none it is emulated, for who asks for it") {
  constexpr const char* Extension = "cl_intel_unified_shared_memory";
  Usm client({}, real_driver());
  if (extensions_of(client.surveyed).find(Extension) != std::string::npos) return;  // the driver has it
  CHECK(client.allocate(100).address == 0);
  CHECK(extensions_of(client.survey(true)).find(Extension) != std::string::npos);
  const Usm::Block block = client.allocate(100), other = client.allocate(100);
  REQUIRE(block.address != 0);
  client.write(client.queue, block.name, 10, as_bytes("hello"));
  client.call<FnId::clEnqueueMemcpyINTEL>(0, 0, client.q(), cl_bool{CL_FALSE}, other.at(3), block.at(10), size_t{5}, 0,
                                          nullptr, nullptr);
  client.call<FnId::clEnqueueMemsetINTEL>(0, 0, client.q(), other.at(4), cl_int{'x'}, size_t{2}, 0, nullptr, nullptr);
  CHECK(as_text(client.read(client.queue, other.name, 3, 5)) == "hxxlo");
  // A pointer in memory, which the driver is told of.
  const ObjectId kernel = client.new_kernel(
      client.new_program("kernel void far(global uchar* global* p) { (*p)[get_global_id(0)] += 1; }"), "far");
  const cl_bool yes = CL_TRUE;
  client.call<FnId::clSetKernelExecInfo>(0, 0, named<cl_kernel>(kernel),
                                         cl_kernel_exec_info{CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL},
                                         sizeof yes, &yes);
  const uint64_t far = block.address + 10;
  client.write(client.queue, other.name, 0, ByteView(reinterpret_cast<const uint8_t*>(&far), sizeof far));
  wire::KernelArg arg;
  arg.form = wire::KernelArg::Form::Svm;
  arg.object = other.address;
  client.launch(kernel, 4, {arg});
  CHECK(as_text(client.read(client.queue, block.name, 10, 5)) == "ifmmo");
  client.call<FnId::clReleaseKernel>(0, 0, named<cl_kernel>(kernel));
  client.call<FnId::clMemFreeINTEL>(0, 0, named<cl_context>(client.context), block.at(0));
  client.finish(client.queue);
  CHECK(client.executor->counters().failed == 0);
  CHECK(client.executor->counters().memory_bytes == 100);
  CHECK(extensions_of(client.survey()).find(Extension) != std::string::npos);  // from then on
}

TEST_CASE("addresses that are in no allocation, or in memory of another kind, are refused") {
  Usm client;
  const Usm::Block block = client.allocate(100);
  Bytes mine(64);
  const auto copy = [&](cl_bool blocking, void* to, const void* from, size_t bytes) {
    return client.refused<FnId::clEnqueueMemcpyINTEL>(client.q(), blocking, to, from, bytes, 0, nullptr, nullptr);
  };
  CHECK(copy(CL_TRUE, block.at(0), block.at(50), 10) == CL_INVALID_OPERATION);  // would wait
  CHECK(copy(CL_FALSE, mine.data(), block.at(0), 10) == CL_INVALID_VALUE);
  CHECK(copy(CL_FALSE, block.at(0), mine.data(), 10) == CL_INVALID_VALUE);
  CHECK(copy(CL_FALSE, block.at(0), block.at(50), 51) == CL_INVALID_VALUE);
  CHECK(copy(CL_FALSE, nullptr, block.at(50), 10) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueMemsetINTEL>(client.q(), block.at(90), 0, size_t{11}, 0, nullptr, nullptr) ==
        CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueMemAdviseINTEL>(client.q(), block.at(0), size_t{101}, 0u, 0, nullptr, nullptr) ==
        CL_INVALID_VALUE);
  const int pattern = 1;
  CHECK(client.refused<FnId::clEnqueueSVMMemFill>(client.q(), block.at(0), &pattern, sizeof pattern, size_t{8}, 0,
                                                  nullptr, nullptr) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clMemFreeINTEL>(named<cl_context>(client.context), static_cast<void*>(mine.data())) ==
        CL_INVALID_VALUE);
  // A function that the driver lacks.
  CHECK(client.refused<FnId::clEnqueueMemFillINTEL>(client.q(), block.at(0), &pattern, sizeof pattern, size_t{8}, 0,
                                                    nullptr, nullptr) == CL_INVALID_OPERATION);
}

TEST_CASE("what a kernel reaches is a kind, or lies in allocations") {
  Usm client;
  const Usm::Block block = client.allocate(100);
  const ObjectId program = client.new_program("kernel void k(global int* p) {}");
  const auto kernel = named<cl_kernel>(client.new_kernel(program, "k"));
  const void* list[] = {block.at(0), &list};
  const auto reach = [&](cl_kernel_exec_info name, size_t bytes, const void* value) {
    return client.refused<FnId::clSetKernelExecInfo>(kernel, name, bytes, value);
  };
  CHECK(reach(CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof list, list) == CL_INVALID_VALUE);
  CHECK(reach(CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 7, list) == CL_INVALID_VALUE);
  CHECK(reach(CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, 8, list) == CL_INVALID_VALUE);
  CHECK(reach(0x4321, 4, list) == CL_INVALID_VALUE);
}

TEST_CASE("allocations are no more than a client may have, and have no properties that nobody knows") {
  Limits limits;
  limits.memory_bytes = 10'000;
  Usm client(limits);
  CHECK(client.allocate(6000).address != 0);
  CHECK(client.allocate(6000).code == CL_OUT_OF_RESOURCES);
  const cl_properties unknown[] = {0x1234, 1, 0};
  CHECK(client.allocate(100, unknown).code == CL_INVALID_PROPERTY);
  cl_int code = 0;
  const auto answer = client.ask<FnId::clHostMemAllocINTEL>(client.new_id(), named<cl_context>(client.context),
                                                            static_cast<const cl_properties*>(nullptr), size_t{10}, 0u,
                                                            &code);  // which the driver lacks
  for (const api::DecodedArg& arg : answer)
    if (arg.param == 4) CHECK(static_cast<cl_int>(arg.value) == CL_INVALID_OPERATION);
}

}  // namespace
}  // namespace gt::exec
