// Command buffers in an executor: on a real driver (PoCL), and with clients that record what would end it; updates on the
// fake driver, which has them.
#include <CL/cl_ext.h>

#include <cstring>

#include "tests/fake_cl/driver.h"
#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;

constexpr const char* Source = "kernel void add(global int* a, int x) { a[get_global_id(0)] += x; }";

cl_int code_of_reply(const std::vector<api::DecodedArg>& outputs) {
  for (const api::DecodedArg& arg : outputs)
    if (arg.param == api::DecodedReturn) return static_cast<cl_int>(arg.value);
  return -9999;
}

struct Recorder : Ready {
  explicit Recorder(const Functions& functions) : Ready(functions) {
    kernel = new_kernel(new_program(Source), "add");
    commands = new_commands();
  }
  ObjectId new_commands() {
    const ObjectId id = new_id();
    const auto q = named<cl_command_queue>(queue);
    cl_int code = 0;
    ask<FnId::clCreateCommandBufferKHR>(id, 1u, &q, nullptr, &code);
    return id;
  }
  cl_command_buffer_khr c() const { return named<cl_command_buffer_khr>(commands); }
  // What the next recording of the kernel has.
  void set(std::vector<wire::KernelArg> args) {
    wire::Launch m;
    m.kernel = kernel;
    m.args = std::move(args);
    send(m);
  }
  cl_int record(std::vector<cl_sync_point_khr> after = {}, cl_uint dimensions = 1, ObjectId handle = 0) {
    const size_t size[3] = {4, 1, 1};
    cl_sync_point_khr given = 0;
    cl_mutable_command_khr command = nullptr;
    const auto answer = ask<FnId::clCommandNDRangeKernelKHR>(
        handle, c(), nullptr, nullptr, named<cl_kernel>(kernel), dimensions, nullptr, size, nullptr,
        static_cast<cl_uint>(after.size()), after.empty() ? nullptr : after.data(), &given, handle ? &command : nullptr);
    for (const api::DecodedArg& arg : answer)
      if (arg.param == 10 && arg.tag == api::Tag::Int) point = static_cast<cl_sync_point_khr>(arg.value);
    return code_of_reply(answer);
  }
  cl_int finalize() { return code_of_reply(ask<FnId::clFinalizeCommandBufferKHR>(0, c())); }
  void enqueue(ObjectId event = 0) {
    cl_event wanted = nullptr;
    call<FnId::clEnqueueCommandBufferKHR>(0, event, 0u, nullptr, c(), 0u, nullptr, event ? &wanted : nullptr);
  }
  int value(ObjectId buffer) {
    const Bytes bytes = read(queue, buffer, 0, 4);
    int v = 0;
    std::memcpy(&v, bytes.data(), sizeof v);
    return v;
  }

  ObjectId kernel = 0, commands = 0;
  cl_sync_point_khr point = 0;
};

wire::KernelArg number_arg(uint32_t index, const int& v) {
  wire::KernelArg arg;
  arg.index = index;
  arg.value = {reinterpret_cast<const uint8_t*>(&v), sizeof v};
  return arg;
}

ObjectId zeros(Ready& client) {
  const ObjectId buffer = client.new_buffer(16);
  client.write(client.queue, buffer, 0, Bytes(16));
  return buffer;
}

bool has_command_buffers() {
  Ready client(real_driver());
  for (const wire::InfoValue& info : client.surveyed.devices[0].infos)
    if (info.name == CL_DEVICE_EXTENSIONS) return as_text(info.value).find("cl_khr_command_buffer") != std::string_view::npos;
  return false;
}

TEST_CASE("launches run with the arguments that they were recorded with, as often as asked") {
  if (!has_command_buffers()) return;
  Recorder client(real_driver());
  const int one = 1, ten = 10, other = 1000;
  const ObjectId a = zeros(client);
  client.set({object_arg(0, a), number_arg(1, one)});
  REQUIRE(client.record() == CL_SUCCESS);
  client.set({number_arg(1, ten)});
  REQUIRE(client.record({client.point}) == CL_SUCCESS);
  client.set({number_arg(1, other)});
  REQUIRE(client.finalize() == CL_SUCCESS);
  const uint64_t calls = client.executor->counters().calls;
  for (int run = 1; run <= 3; ++run) {
    const ObjectId event = client.new_id();
    client.enqueue(event);
    CHECK(client.subscribed(event).status == CL_COMPLETE);
    CHECK(client.value(a) == 11 * run);
  }
  CHECK(client.executor->counters().calls == calls + 3);  // one for each run, whatever is in it
}

TEST_CASE("what was recorded stays when the client lets go of its parts") {
  if (!has_command_buffers()) return;
  Recorder client(real_driver());
  const int one = 1;
  const ObjectId a = zeros(client);
  client.set({object_arg(0, a), number_arg(1, one)});
  REQUIRE(client.record() == CL_SUCCESS);
  REQUIRE(client.finalize() == CL_SUCCESS);
  client.call<FnId::clReleaseKernel>(0, 0, named<cl_kernel>(client.kernel));
  client.enqueue();
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.value(a) == 1);
  client.call<FnId::clReleaseCommandBufferKHR>(0, 0, client.c());
  client.enqueue();
  CHECK(client.failure().code == CL_INVALID_COMMAND_BUFFER_KHR);
}

TEST_CASE("what would end the driver does not reach it") {
  if (!has_command_buffers()) return;
  Recorder client(real_driver());
  const int one = 1;
  const ObjectId a = zeros(client);
  CHECK(client.record() == CL_INVALID_KERNEL_ARGS);
  client.set({object_arg(0, a)});
  CHECK(client.record() == CL_INVALID_KERNEL_ARGS);
  client.set({number_arg(0, one)});
  CHECK(client.record() == CL_INVALID_ARG_VALUE);
  client.set({object_arg(0, a), number_arg(1, one)});
  for (const cl_uint dimensions : {0u, 4u, 1000u}) CHECK(client.record({}, dimensions) == CL_INVALID_WORK_DIMENSION);
  for (const cl_sync_point_khr point : {0u, 1u, 77u, ~0u})
    CHECK(client.record({point}) == CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
  CHECK(code_of_reply(client.ask<FnId::clCommandBarrierWithWaitListKHR>(
            0, client.c(), nullptr, 7u, nullptr, nullptr, nullptr)) == CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
  CHECK(code_of_reply(client.ask<FnId::clFinalizeCommandBufferKHR>(0, named<cl_command_buffer_khr>(a))) ==
        CL_INVALID_COMMAND_BUFFER_KHR);
  client.enqueue();
  CHECK(client.failure().code == CL_INVALID_OPERATION);  // it is being recorded
  const cl_properties secret[] = {0x7777, 1, 0};
  const auto q = named<cl_command_queue>(client.queue);
  cl_int code = 0;
  client.call<FnId::clCreateCommandBufferKHR>(client.new_id(), 0, 1u, &q, secret, &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  wire::Update update;
  update.command_buffer = client.commands;
  CHECK(client.update(update) == CL_INVALID_VALUE);
  update.command_buffer = a;
  CHECK(client.update(update) == CL_INVALID_COMMAND_BUFFER_KHR);
  CHECK(client.record() == CL_SUCCESS);
}

Functions fake_driver() {
  Functions all;
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) all.of[fn] = fake::exported(static_cast<FnId>(fn));
  return all;
}

TEST_CASE("commands change, those of this command buffer alone") {
  const Functions functions = fake_driver();
  Recorder client(functions);
  const int one = 1, seven = 7;
  const ObjectId a = zeros(client), b = zeros(client), command = client.new_id();
  client.set({object_arg(0, a), number_arg(1, one)});
  REQUIRE(client.record({}, 1, command) == CL_SUCCESS);
  REQUIRE(client.finalize() == CL_SUCCESS);
  wire::Update update;
  update.command_buffer = client.commands;
  update.commands.resize(1);
  update.commands[0].command = command;
  update.commands[0].args = {object_arg(0, b), number_arg(1, seven)};
  CHECK(client.update(update) == CL_SUCCESS);
  update.commands[0].args = {object_arg(0, client.queue)};
  CHECK(client.update(update) == CL_INVALID_MEM_OBJECT);
  update.commands[0].args = {number_arg(0, one)};
  CHECK(client.update(update) < 0);
  update.commands[0].args.clear();
  update.commands[0].dimensions = 200;
  CHECK(client.update(update) == CL_INVALID_VALUE);
  update.commands[0].dimensions = 0;
  update.commands[0].command = a;
  CHECK(client.update(update) == CL_INVALID_MUTABLE_COMMAND_KHR);
  client.call<FnId::clReleaseCommandBufferKHR>(0, 0, client.c());
  client.commands = client.new_commands();
  update.command_buffer = client.commands;
  update.commands[0].command = command;
  CHECK(client.update(update) == CL_INVALID_MUTABLE_COMMAND_KHR);  // it went with the other one
}

TEST_CASE("functions that the driver lacks are refused") {
  const Functions functions = fake_driver();
  Recorder client(functions);
  const cl_sync_point_khr none = 0;
  CHECK(code_of_reply(client.ask<FnId::clCommandBarrierWithWaitListKHR>(0, client.c(), nullptr, 0u, &none, nullptr,
                                                                        nullptr)) < 0);
  cl_int code = 0;
  client.call<FnId::clCreateSemaphoreWithPropertiesKHR>(client.new_id(), 0, named<cl_context>(client.context), nullptr,
                                                        &code);
  CHECK(client.failure().code < 0);
}

}  // namespace
}  // namespace gt::exec
