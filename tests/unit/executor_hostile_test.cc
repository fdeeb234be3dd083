// Clients that ask for what they may not have, or say what makes no sense: on the fake driver.
#include <algorithm>
#include <random>

#include "tests/fake_cl/behaviour.h"
#include "tests/unit/executor_client.h"
#include "tests/unit/fake_functions.h"
#include "traces/api/api.h"
#include "transport/executor/calls/call_rules.h"

namespace gt::exec {
namespace {

using api::FnId;

cl_int code_of_reply(const std::vector<api::DecodedArg>& outputs) {
  for (const api::DecodedArg& arg : outputs)
    if (arg.tag == api::Tag::Int) return static_cast<cl_int>(arg.value);
  return -9999;
}

TEST_CASE("what a client may call is what can be called from elsewhere") {
  const std::vector<std::string> expected = {
      "clCreateSubDevices", "clReleaseDevice", "clSetDefaultDeviceCommandQueue", "clGetDeviceAndHostTimer",
      "clGetHostTimer", "clCreateContext", "clReleaseContext", "clGetContextInfo",
      "clCreateCommandQueueWithProperties", "clReleaseCommandQueue", "clGetCommandQueueInfo", "clCreateBuffer",
      "clCreateSubBuffer", "clCreateImage", "clCreatePipe", "clCreateBufferWithProperties",
      "clCreateImageWithProperties", "clReleaseMemObject", "clGetSupportedImageFormats", "clGetMemObjectInfo",
      "clGetImageInfo", "clGetPipeInfo", "clCreateSamplerWithProperties", "clReleaseSampler", "clGetSamplerInfo",
      "clCreateProgramWithSource", "clCreateProgramWithBinary", "clCreateProgramWithBuiltInKernels",
      "clCreateProgramWithIL", "clReleaseProgram", "clSetProgramSpecializationConstant", "clGetProgramInfo",
      "clGetProgramBuildInfo", "clCreateKernel", "clCreateKernelsInProgram", "clCloneKernel", "clReleaseKernel",
      "clGetKernelInfo", "clGetKernelArgInfo", "clGetKernelWorkGroupInfo", "clGetKernelSubGroupInfo",
      "clGetEventInfo", "clCreateUserEvent", "clReleaseEvent", "clSetUserEventStatus", "clGetEventProfilingInfo",
      "clFlush", "clEnqueueFillBuffer", "clEnqueueCopyBuffer", "clEnqueueCopyBufferRect", "clEnqueueFillImage",
      "clEnqueueCopyImage", "clEnqueueCopyImageToBuffer", "clEnqueueCopyBufferToImage", "clEnqueueMigrateMemObjects",
      "clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList", "clCreateImage2D", "clCreateImage3D",
      "clEnqueueMarker", "clEnqueueWaitForEvents", "clEnqueueBarrier", "clCreateCommandQueue", "clCreateSampler",
      "clSetKernelArg", "clSVMAlloc", "clSVMFree", "clEnqueueSVMMemcpy", "clEnqueueSVMMemFill", "clEnqueueSVMMap",
      "clEnqueueSVMUnmap", "clEnqueueSVMMigrateMem", "clSetKernelExecInfo", "clEnqueueMapBuffer",
      "clGetKernelSubGroupInfoKHR", "clGetKernelSuggestedLocalWorkSizeKHR", "clCreateCommandBufferKHR",
      "clFinalizeCommandBufferKHR", "clReleaseCommandBufferKHR", "clEnqueueCommandBufferKHR",
      "clGetCommandBufferInfoKHR", "clGetMutableCommandInfoKHR", "clCommandBarrierWithWaitListKHR",
      "clCommandCopyBufferKHR", "clCommandCopyBufferRectKHR", "clCommandCopyBufferToImageKHR",
      "clCommandCopyImageKHR", "clCommandCopyImageToBufferKHR", "clCommandFillBufferKHR", "clCommandFillImageKHR",
      "clCommandNDRangeKernelKHR", "clCreateSemaphoreWithPropertiesKHR", "clEnqueueWaitSemaphoresKHR",
      "clEnqueueSignalSemaphoresKHR", "clGetSemaphoreInfoKHR", "clReleaseSemaphoreKHR",
      "clGetKernelSuggestedLocalWorkSize", "clSetKernelArgDevicePointerEXT", "clHostMemAllocINTEL",

      "clDeviceMemAllocINTEL", "clSharedMemAllocINTEL", "clMemFreeINTEL", "clEnqueueMemcpyINTEL",
      "clEnqueueMemFillINTEL", "clEnqueueMemsetINTEL", "clEnqueueMigrateMemINTEL", "clEnqueueMemAdviseINTEL"};
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) {
    const std::string name = api::function_name(fn);
    CAPTURE(name);
    CHECK(may_call(static_cast<FnId>(fn)) == (std::find(expected.begin(), expected.end(), name) != expected.end()));
  }
}

TEST_CASE("what may not be called is refused without being made") {
  Ready client(fake_driver());
  CHECK(code_of_reply(client.ask<FnId::clRetainContext>(0, named<cl_context>(client.context))) ==
        CL_INVALID_OPERATION);
  const ObjectId buffer = client.new_buffer(16);
  cl_int code = 0;
  const auto map = [&](cl_bool blocking, size_t bytes) {
    const auto outputs = client.ask<FnId::clEnqueueMapBuffer>(
        0, named<cl_command_queue>(client.queue), named<cl_mem>(buffer), blocking, cl_map_flags{CL_MAP_READ}, size_t{0},
        bytes, 0, nullptr, nullptr, &code);
    return static_cast<cl_int>(value_of(outputs, 9));
  };
  CHECK(map(CL_TRUE, 16) == CL_INVALID_OPERATION);
  CHECK(map(CL_FALSE, 16) == CL_INVALID_OPERATION);
  CHECK(map(CL_TRUE, 0) == CL_INVALID_OPERATION);
  CHECK(map(CL_FALSE, 0) != CL_INVALID_OPERATION);  // a question
  CHECK(code_of_reply(client.ask<FnId::clFinish>(0, named<cl_command_queue>(client.queue))) == CL_INVALID_OPERATION);
}

TEST_CASE("the program's memory and functions mean nothing here") {
  Ready client(fake_driver());
  Bytes memory(64);
  cl_int code = 0;
  client.call<FnId::clCreateBuffer>(client.new_id(), 0, named<cl_context>(client.context),
                                    cl_mem_flags{CL_MEM_USE_HOST_PTR}, memory.size(), memory.data(), &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  const auto device = named<cl_device_id>(client.device);
  const auto notify = [](const char*, const void*, size_t, void*) {};
  client.call<FnId::clCreateContext>(client.new_id(), 0, nullptr, 1, &device, +notify, nullptr, &code);
  CHECK(client.failure().code == CL_INVALID_OPERATION);
  const cl_context_properties display[] = {0x200A, 12345, 0};  // CL_GLX_DISPLAY_KHR
  client.call<FnId::clCreateContext>(client.new_id(), 0, display, 1, &device, nullptr, nullptr, &code);
  CHECK(client.failure().code == CL_INVALID_PROPERTY);
  const ObjectId copied = client.new_id();
  std::fill(memory.begin(), memory.end(), uint8_t{7});
  client.call<FnId::clCreateBuffer>(copied, 0, named<cl_context>(client.context), cl_mem_flags{CL_MEM_COPY_HOST_PTR},
                                    memory.size(), memory.data(), &code);
  CHECK(client.read(client.queue, copied, 0, 64) == memory);
}

TEST_CASE("names that are none, are of another kind, or are given already") {
  Ready client(fake_driver());
  const ObjectId buffer = client.new_buffer(16), none = client.new_id();
  cl_int code = 0;
  client.call<FnId::clCreateUserEvent>(client.new_id(), 0, named<cl_context>(buffer), &code);
  CHECK(client.failure().code == CL_INVALID_CONTEXT);
  client.call<FnId::clReleaseMemObject>(0, 0, named<cl_mem>(none));
  CHECK(client.failure().code == CL_INVALID_MEM_OBJECT);
  client.call<FnId::clReleaseKernel>(0, 0, named<cl_kernel>(buffer));
  CHECK(client.failure().code == CL_INVALID_KERNEL);
  client.call<FnId::clCreateUserEvent>(buffer, 0, named<cl_context>(client.context), &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  client.call<FnId::clCreateUserEvent>(wire::FirstSurveyed, 0, named<cl_context>(client.context), &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  const auto wait = named<cl_event>(none);
  client.call<FnId::clEnqueueMarkerWithWaitList>(0, 0, named<cl_command_queue>(client.queue), 1, &wait, nullptr);
  CHECK(client.failure().code == CL_INVALID_EVENT_WAIT_LIST);
  const cl_event null_event = nullptr;
  client.call<FnId::clEnqueueMarkerWithWaitList>(0, 0, named<cl_command_queue>(client.queue), 1, &null_event,
                                                 nullptr);
  CHECK(client.failure().code == CL_INVALID_EVENT_WAIT_LIST);
  client.call<FnId::clReleaseMemObject>(0, 0, named<cl_mem>(buffer));
  client.call<FnId::clReleaseMemObject>(0, 0, named<cl_mem>(buffer));
  CHECK(client.failure().code == CL_INVALID_MEM_OBJECT);
  CHECK(client.failures.empty());
}

TEST_CASE("a call is not made on NULL") {
  Ready client(fake_driver());
  client.call<FnId::clReleaseContext>(0, 0, nullptr);
  CHECK(client.failure().code == CL_INVALID_CONTEXT);
  client.call<FnId::clReleaseMemObject>(0, 0, nullptr);
  CHECK(client.failure().code == CL_INVALID_MEM_OBJECT);
  client.call<FnId::clGetProgramInfo>(0, 0, nullptr, CL_PROGRAM_BINARIES, size_t{8}, nullptr, nullptr);
  CHECK(client.failure().code == CL_INVALID_PROGRAM);
  client.call<FnId::clSetUserEventStatus>(0, 0, nullptr, CL_COMPLETE);
  CHECK(client.failure().code == CL_INVALID_EVENT);
}

TEST_CASE("nothing is made that has no name") {
  Ready client(fake_driver());
  cl_int code = 0;
  client.call<FnId::clCreateCommandQueue>(0, 0, named<cl_context>(client.context),
                                          named<cl_device_id>(client.surveyed.devices[0].id), 0, &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
  client.call<FnId::clCreateUserEvent>(0, 0, named<cl_context>(client.context), &code);
  CHECK(client.failure().code == CL_INVALID_VALUE);
}

TEST_CASE("a client gets no more than its limits") {
  Limits limits;
  limits.memory_bytes = 1000;
  limits.objects = 8;
  Ready client(fake_driver(), limits);
  const ObjectId buffer = client.new_buffer(600);
  client.new_buffer(600);
  CHECK(client.failure().code == CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client.call<FnId::clReleaseMemObject>(0, 0, named<cl_mem>(buffer));
  client.new_buffer(600);
  CHECK(client.executor->counters().memory_bytes == 600);
  for (int i = 0; i < 8; ++i) client.new_user_event();
  CHECK(client.failure().code == CL_OUT_OF_RESOURCES);
  std::map<uint32_t, Bytes> infos;
  for (const wire::InfoValue& info : client.surveyed.devices[0].infos) infos[info.name] = info.value;
  CHECK(infos[CL_DEVICE_GLOBAL_MEM_SIZE] == Bytes{0xe8, 3, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("answers hold names, never addresses") {
  Ready client(fake_driver());
  cl_context context = nullptr;
  size_t size = 0;
  const auto outputs = client.ask<FnId::clGetCommandQueueInfo>(0, named<cl_command_queue>(client.queue),
                                                               cl_command_queue_info{CL_QUEUE_CONTEXT},
                                                               sizeof context, &context, &size);
  const auto handle = std::find_if(outputs.begin(), outputs.end(),
                                   [](const api::DecodedArg& arg) { return arg.tag == api::Tag::Handle; });
  REQUIRE(handle != outputs.end());
  CHECK(handle->value == client.context);
}

// What the driver was asked for, less what it got back.
uint64_t live_buffers() {
  return fake::calls_of(FnId::clCreateBuffer) + fake::calls_of(FnId::clRetainMemObject) -
         fake::calls_of(FnId::clReleaseMemObject);
}

TEST_CASE("everything is released when the link closes") {
  fake::start_anew();
  Ready client(fake_driver());
  for (int i = 0; i < 10; ++i) client.new_buffer(100);
  const ObjectId buffer = client.new_buffer(10'000);
  wire::Write m;
  m.queue = client.queue;
  m.mem = buffer;
  m.part.region[0] = m.bytes = 10'000;
  m.data_path = wire::DataPath::Stream;
  m.transfer = 1;
  client.send(m);  // whose chunks never come
  CHECK(live_buffers() > 11);
  client.link().close();
  client.executor->wait_until_closed();
  client.executor.reset();
  CHECK(live_buffers() == 0);
}

TEST_CASE("what the driver refuses is told with its error") {
  fake::behaviour().failures = {{"clEnqueueNDRangeKernel", 0, CL_OUT_OF_RESOURCES}};
  Ready client(fake_driver());
  const ObjectId kernel = client.new_kernel(client.new_program("kernel void nothing() {}"), "nothing");
  const ObjectId event = client.launch(kernel, 1);
  CHECK(client.failure().code == CL_OUT_OF_RESOURCES);
  CHECK(client.subscribed(event).status == CL_OUT_OF_RESOURCES);
  fake::start_anew();
}

TEST_CASE("frames that are no messages close the link") {
  for (const Bytes& frame : {Bytes{}, Bytes{0}, Bytes{65, 0, 0, 0, 0}, Bytes{2, 1}, Bytes{200}}) {
    Client client(fake_driver());
    const ByteView parts[] = {frame};
    static_cast<void>(client.link().send(parts));
    CHECK(client.is_closed());
  }
}

TEST_CASE("large messages come in fragments, up to a limit") {
  Limits limits;
  limits.message_bytes = size_t{3} << 20;
  Ready client(fake_driver(), limits);
  const ObjectId program = client.new_id();
  std::string source(size_t{2} << 20, ' ');
  source += "kernel void nothing() {}";
  const char* text = source.c_str();
  cl_int code = 0;
  const auto outputs = client.ask<FnId::clCreateProgramWithSource>(program, named<cl_context>(client.context), 1,
                                                                   &text, nullptr, &code);
  CHECK(outputs[0].value == program);
  size_t size = 0;
  Bytes room(source.size() + 1);
  client.ask<FnId::clGetProgramInfo>(0, named<cl_program>(program), cl_program_info{CL_PROGRAM_SOURCE}, room.size(),
                                     room.data(), &size);
  CHECK(as_text(client.outputs).find("kernel void nothing") != std::string_view::npos);
  CHECK_FALSE(client.is_closed());
  Bytes frame;
  for (int i = 0; i < 8; ++i) {
    wire::encode(wire::FragmentToExecutor{7, 0, ByteView(room).first(1 << 19)}, frame);
    const ByteView parts[] = {frame};
    static_cast<void>(client.link().send(parts));
  }
  CHECK(client.is_closed());
}

// Messages as a client sends them, with bytes changed.
TEST_CASE("random messages do no harm") {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  for (int session = 0; session < 60; ++session) {
    Limits limits;
    limits.memory_bytes = 1 << 20;
    limits.build_seconds = 0;
    Ready client(fake_driver(), limits);
    const ObjectId kernel = client.new_kernel(client.new_program("kernel void nothing(int a) {}"), "nothing");
    const ObjectId buffer = client.new_buffer(4096);
    client.new_user_event();
    for (int i = 0; i < 200 && !client.is_closed(); ++i) {
      wire::Launch launch;
      launch.queue = client.queue;
      launch.kernel = kernel;
      launch.event = client.new_id();
      launch.dimensions = 1;
      launch.waits = {1 + below(12)};
      wire::Write write;
      write.queue = client.queue;
      write.mem = buffer;
      write.part.shape = static_cast<wire::Part::Shape>(below(3));
      write.part.region = {1 + below(64), 1 + below(4), 1 + below(4)};
      write.bytes = write.part.region[0] * write.part.region[1] * write.part.region[2];
      write.data_path = static_cast<wire::DataPath>(below(6));
      const Bytes data(write.bytes, 1);
      write.data = data;
      wire::Read read;
      read.queue = client.queue;
      read.mem = buffer;
      read.event = client.new_id();
      read.part = write.part;
      read.bytes = write.bytes;
      constexpr wire::DataPath Ways[] = {wire::DataPath::Inline, wire::DataPath::Stream, wire::DataPath::Ring};
      read.data_path = Ways[below(3)];
      read.offset = write.offset = below(1000);
      api::VectorWriter inputs;
      inputs.word(1 + below(16));
      for (size_t n = below(8); n > 0; --n) inputs.word(below(5));
      wire::Call call;
      call.fn = static_cast<uint16_t>(below(api::FnCount));
      call.reply = static_cast<uint32_t>(below(2));
      call.result = below(2) ? client.new_id() : below(16);
      call.inputs = inputs.view();
      wire::Subscribe subscribe;
      subscribe.event = below(20);
      Bytes frame;
      switch (below(6)) {
        case 0: wire::encode(launch, frame); break;
        case 1: wire::encode(write, frame); break;
        case 2: wire::encode(read, frame); break;
        case 3: wire::encode(subscribe, frame); break;
        default: wire::encode(call, frame); break;
      }
      // What memory the client shares is its own: addresses inside a process are not checked.
      const bool shared = frame[0] == 3 && write.data_path == wire::DataPath::Shared;
      if (!shared && below(3) == 0) frame[1 + below(frame.size() - 1)] ^= static_cast<uint8_t>(1u << below(8));
      if (shared) continue;
      const ByteView parts[] = {frame};
      static_cast<void>(client.link().send(parts));
    }
  }
}

}  // namespace
}  // namespace gt::exec
