// Shared virtual memory in an executor on a real driver (PoCL): blocks by name and by address, and addresses that are
// nobody's.
#include <algorithm>

#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;

struct Svm : Ready {
  explicit Svm(const Limits& limits = {}, Options options = {}) : Ready(real_driver(), limits, std::move(options)) {}
  explicit Svm(const Functions& functions) : Ready(functions) {}

  struct Block {
    ObjectId name = 0;
    uint64_t address = 0;
    void* at(uint64_t offset) const { return reinterpret_cast<void*>(address + offset); }
  };
  Block allocate(size_t bytes, cl_svm_mem_flags flags = CL_MEM_READ_WRITE) {
    Block block;
    block.name = new_id();
    const auto answer = ask<FnId::clSVMAlloc>(block.name, named<cl_context>(context), flags, bytes, 0u);
    for (const api::DecodedArg& arg : answer)
      if (arg.param == api::DecodedReturn) block.address = arg.value;
    return block;
  }
  void free(const Block& block) {
    call<FnId::clSVMFree>(0, 0, named<cl_context>(context), block.at(0));
  }
  // The code of a call that is refused.
  template <FnId F, class... A>
  cl_int refused(A... arguments) {
    call<F>(0, 0, arguments...);
    return failure().code;
  }
  cl_command_queue q() const { return named<cl_command_queue>(queue); }
};

wire::KernelArg svm_arg(uint32_t index, uint64_t address) {
  wire::KernelArg arg;
  arg.index = index;
  arg.form = wire::KernelArg::Form::Svm;
  arg.object = address;
  return arg;
}

TEST_CASE("a block is written and read by its name, and kernels have its address") {
  Svm client;
  const Svm::Block block = client.allocate(100);
  REQUIRE(block.address != 0);
  CHECK(client.executor->counters().memory_bytes == 100);
  client.write(client.queue, block.name, 10, as_bytes("hello"));
  CHECK(as_text(client.read(client.queue, block.name, 10, 5)) == "hello");
  const ObjectId program = client.new_program(
      "kernel void next(global uchar* p, global ulong* told) { p[get_global_id(0)] += 1; *told = (ulong)p; }");
  const ObjectId kernel = client.new_kernel(program, "next"), told = client.new_buffer(8);
  client.launch(kernel, 4, {svm_arg(0, block.address + 10), object_arg(1, told)});
  CHECK(as_text(client.read(client.queue, block.name, 10, 5)) == "ifmmo");
  uint64_t address = 0;
  std::memcpy(&address, client.read(client.queue, told, 0, 8).data(), 8);
  CHECK(address == block.address + 10);
  client.launch(kernel, 4, {svm_arg(0, block.address + 101)});  // behind its end
  CHECK(client.failure().code == CL_INVALID_ARG_VALUE);
  client.free(block);
  client.launch(kernel, 4, {svm_arg(0, block.address + 10)});
  CHECK(client.failure().code == CL_INVALID_ARG_VALUE);
  CHECK(client.executor->counters().memory_bytes == 8);
}

TEST_CASE("a block takes chunks, and gives them") {
  Options options;
  options.slot_bytes = 4096;
  Svm client({}, options);
  constexpr size_t Size = 100'000;
  const Svm::Block block = client.allocate(Size + 7);
  Bytes all(Size);
  for (size_t i = 0; i < Size; ++i) all[i] = static_cast<uint8_t>(i * 7 + i / 256);
  wire::Write write;
  write.queue = client.queue;
  write.mem = block.name;
  write.transfer = 1;
  write.part.origin[0] = 7;
  write.part.region[0] = write.bytes = Size;
  write.data_path = wire::DataPath::Stream;
  client.stream(write, 1, all, client.surveyed);
  Bytes back(Size);
  const auto segment = client.link().expose(back.data(), back.size());
  REQUIRE(segment.ok());
  wire::Read read;
  read.queue = client.queue;
  read.mem = block.name;
  read.event = client.new_id();
  read.transfer = 2;
  read.part = write.part;
  read.bytes = Size;
  read.data_path = wire::DataPath::Stream;
  read.segment = *segment;
  client.send(read);
  CHECK(client.completion(read.event).status == CL_COMPLETE);
  CHECK(back == all);
  CHECK(client.failures.empty());
}

TEST_CASE("commands take addresses that lie in blocks, and no others") {
  Svm client;
  const Svm::Block block = client.allocate(4096), other = client.allocate(4096);
  const int pattern = 0x61626364;
  Bytes mine(64);
  client.call<FnId::clEnqueueSVMMemFill>(0, 0, client.q(), block.at(16), &pattern, sizeof pattern, size_t{64}, 0,
                                         nullptr, nullptr);
  client.call<FnId::clEnqueueSVMMemcpy>(0, 0, client.q(), CL_FALSE, other.at(0), block.at(16), size_t{8}, 0, nullptr,
                                        nullptr);
  CHECK(as_text(client.read(client.queue, other.name, 0, 8)) == "dcbadcba");
  CHECK(client.refused<FnId::clEnqueueSVMMemcpy>(client.q(), CL_TRUE, other.at(0), block.at(16), size_t{8}, 0, nullptr,
                                                 nullptr) == CL_INVALID_OPERATION);  // would wait
  CHECK(client.refused<FnId::clEnqueueSVMMemcpy>(client.q(), CL_FALSE, mine.data(), block.at(16), size_t{8}, 0,
                                                 nullptr, nullptr) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueSVMMemcpy>(client.q(), CL_FALSE, block.at(0), mine.data(), size_t{8}, 0, nullptr,
                                                 nullptr) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueSVMMemcpy>(client.q(), CL_FALSE, nullptr, block.at(0), size_t{8}, 0, nullptr,
                                                 nullptr) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueSVMMemFill>(client.q(), block.at(4000), &pattern, sizeof pattern, size_t{100}, 0,
                                                  nullptr, nullptr) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clEnqueueSVMUnmap>(client.q(), mine.data(), 0, nullptr, nullptr) == CL_INVALID_VALUE);
  const void* list[] = {block.at(0), other.at(1)};
  const size_t fits[] = {4096, 4095}, too_long[] = {4096, 4096};
  client.call<FnId::clEnqueueSVMMigrateMem>(0, 0, client.q(), 2, list, fits, cl_mem_migration_flags{0}, 0, nullptr,
                                            nullptr);
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.failures.empty());
  CHECK(client.refused<FnId::clEnqueueSVMMigrateMem>(client.q(), 2, list, too_long, cl_mem_migration_flags{0}, 0,
                                                     nullptr, nullptr) == CL_INVALID_VALUE);
  const ObjectId program = client.new_program("kernel void k(global int* p) {}");
  const auto kernel = named<cl_kernel>(client.new_kernel(program, "k"));
  client.call<FnId::clSetKernelExecInfo>(0, 0, kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list);
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.failures.empty());
  list[1] = mine.data();
  CHECK(client.refused<FnId::clSetKernelExecInfo>(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, list) ==
        CL_INVALID_VALUE);
  const cl_bool system = CL_TRUE;
  CHECK(client.refused<FnId::clSetKernelExecInfo>(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof system,
                                                  &system) == CL_INVALID_VALUE);
  CHECK(client.refused<FnId::clSetKernelExecInfo>(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof list, nullptr) ==
        CL_INVALID_VALUE);
}

// What a driver was given that looks at a migration's list when the command runs.
const void** g_list = nullptr;
cl_int look_later(cl_command_queue, cl_uint, const void** list, const size_t*, cl_mem_migration_flags, cl_uint,
                  const cl_event*, cl_event*) {
  if (!g_list) g_list = list;
  return CL_SUCCESS;
}

TEST_CASE("the list of a migration stays until it is over") {
  Functions functions = real_driver();
  functions.of[static_cast<size_t>(FnId::clEnqueueSVMMigrateMem)] = reinterpret_cast<AnyFunction>(&look_later);
  Svm client(functions);
  const Svm::Block block = client.allocate(4096), other = client.allocate(4096);
  const ObjectId gate = client.new_id();
  cl_int code = 0;
  client.call<FnId::clCreateUserEvent>(gate, 0, named<cl_context>(client.context), &code);
  const auto waits = named<cl_event>(gate);
  client.call<FnId::clEnqueueMarkerWithWaitList>(0, 0, client.q(), 1, &waits, nullptr);
  const void* first[] = {block.at(0), block.at(8)};
  const void* second[] = {other.at(0), other.at(8)};
  for (const void** list : {first, second})
    client.call<FnId::clEnqueueSVMMigrateMem>(0, 0, client.q(), 2, list, nullptr, cl_mem_migration_flags{0}, 0, nullptr,
                                              nullptr);
  client.ask<FnId::clGetEventInfo>(0, waits, CL_EVENT_REFERENCE_COUNT, size_t{0}, nullptr, nullptr);  // they have been
  REQUIRE(g_list);
  CHECK(g_list[0] == block.at(0));
  CHECK(g_list[1] == block.at(8));
  client.call<FnId::clSetUserEventStatus>(0, 0, waits, cl_int{CL_COMPLETE});
  CHECK(client.finish(client.queue) == CL_SUCCESS);
}

TEST_CASE("blocks are no more than a client may have, nor finer than they may be") {
  Limits limits;
  limits.memory_bytes = 10'000;
  Svm client(limits);
  const Svm::Block block = client.allocate(6000);
  REQUIRE(block.address != 0);
  CHECK(client.allocate(6000).address == 0);
  CHECK(client.allocate(100, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS).address == 0);
  client.free(block);
  const Svm::Block again = client.allocate(6000);
  CHECK(again.address != 0);
  CHECK(client.executor->counters().memory_bytes == 6000);
}

TEST_CASE("a buffer lies over a block, and outlives its name") {
  Limits limits;
  limits.memory_bytes = 6000;
  Svm client(limits);
  const Svm::Block block = client.allocate(4096);
  client.write(client.queue, block.name, 0, as_bytes("abcdef"));
  const auto buffer_over = [&](uint64_t address, size_t bytes) {
    api::VectorWriter inputs;
    cl_int code = 0;
    api::encode_inputs<FnId::clCreateBuffer, api::Contents::None>(
        inputs, named<cl_context>(client.context), cl_mem_flags{CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR}, bytes,
        reinterpret_cast<void*>(address), &code);
    wire::Call m;
    m.fn = static_cast<uint16_t>(FnId::clCreateBuffer);
    m.result = client.new_id();
    m.inputs = inputs.view();
    client.send(m);
    return m.result;
  };
  const ObjectId buffer = buffer_over(block.address, 4096);
  CHECK(as_text(client.read(client.queue, buffer, 0, 6)) == "abcdef");
  CHECK(client.executor->counters().memory_bytes == 4096);
  buffer_over(block.address + 4000, 100);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  Bytes mine(64);
  buffer_over(reinterpret_cast<uint64_t>(mine.data()), 64);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  client.free(block);
  client.write(client.queue, buffer, 2, as_bytes("X"));
  CHECK(as_text(client.read(client.queue, buffer, 0, 6)) == "abXdef");
}

}  // namespace
}  // namespace gt::exec
