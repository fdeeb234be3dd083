// Commands in command buffers that change, semaphores, and functions that a driver lacks: on the fake driver.
#include "tests/unit/command_recorder.h"
#include "tests/unit/fake_functions.h"

namespace gt::exec {
namespace {

using api::FnId;

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
}

TEST_CASE("semaphores are signalled and waited for by name") {
  const Functions functions = fake_driver();
  Ready client(functions);
  const cl_properties binary[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0};
  const cl_properties exported[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
                                    CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, 0};
  const auto context = named<cl_context>(client.context);
  const auto queue = named<cl_command_queue>(client.queue);
  const ObjectId id = client.new_id();
  cl_int code = 0;
  client.call<FnId::clCreateSemaphoreWithPropertiesKHR>(client.new_id(), 0, context, exported, &code);
  CHECK(client.failure().code == CL_INVALID_PROPERTY);
  client.call<FnId::clCreateSemaphoreWithPropertiesKHR>(id, 0, context, binary, &code);
  const cl_semaphore_khr one = named<cl_semaphore_khr>(id);
  const auto signal = [&] {
    client.call<FnId::clEnqueueSignalSemaphoresKHR>(0, 0, queue, 1u, &one, nullptr, 0u, nullptr, nullptr);
  };
  const auto wait = [&](ObjectId event) {
    cl_event wanted = nullptr;
    client.call<FnId::clEnqueueWaitSemaphoresKHR>(0, event, queue, 1u, &one, nullptr, 0u, nullptr, &wanted);
  };
  wait(client.new_id());
  CHECK(client.failure().code == CL_INVALID_OPERATION);  // nobody has signalled it
  signal();
  const ObjectId event = client.new_id();
  wait(event);
  CHECK(client.subscribed(event).status == CL_COMPLETE);
  client.call<FnId::clReleaseSemaphoreKHR>(0, 0, named<cl_semaphore_khr>(id));
  signal();
  CHECK(client.failure().code == CL_INVALID_SEMAPHORE_KHR);
  CHECK(client.failures.empty());
}

}  // namespace
}  // namespace gt::exec
