// Commands in command buffers that change, and functions that a driver lacks: on the fake driver.
#include "tests/fake_cl/driver.h"
#include "tests/unit/command_recorder.h"

namespace gt::exec {
namespace {

using api::FnId;

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
