// Command buffers in an executor on a real driver (PoCL), and with clients that record what would end it.
#include "tests/unit/command_recorder.h"

namespace gt::exec {
namespace {

using api::FnId;

bool has_command_buffers() {
  Ready client(real_driver());
  for (const wire::InfoValue& info : client.surveyed.devices[0].infos)
    if (info.name == CL_DEVICE_EXTENSIONS)
      return as_text(info.value).find("cl_khr_command_buffer") != std::string_view::npos;
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
  cl_ulong words[8] = {};
  for (const cl_uint info : {cl_uint{CL_COMMAND_BUFFER_QUEUES_KHR}, cl_uint{CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR}})
    CHECK(code_of_reply(client.ask<FnId::clGetCommandBufferInfoKHR>(0, client.c(), cl_command_buffer_info_khr{info},
                                                                    sizeof words, words, nullptr)) == CL_INVALID_VALUE);
  wire::Update update;
  update.command_buffer = client.commands;
  CHECK(client.update(update) == CL_INVALID_VALUE);
  update.command_buffer = a;
  CHECK(client.update(update) == CL_INVALID_COMMAND_BUFFER_KHR);
  CHECK(client.record() == CL_SUCCESS);
}

}  // namespace
}  // namespace gt::exec
