// Command buffers, on whatever device is first: each result is verified, and what is printed is the same natively,
// traced, optimized and remote.
//   command_buffers              everything that a program sees of them
//   command_buffers errors       what wrong calls are answered; errors all: also those that PoCL 3.1 ends with
//   command_buffers arguments    what a launch was recorded with is what it runs with, what the program releases stays,
//   and
//                                what a command buffer says of itself: drivers themselves do not all get this right
//   command_buffers capture      a few runs whose results are read back, for --capture and replay
//   command_buffers rate N RUNS  how long N launches take: in a command buffer, and by themselves (medians)
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "tests/e2e/programs/check.h"
#include "tests/e2e/programs/recording.h"

using namespace recording;  // NOLINT: a program of one file

namespace {

void launches_and_sync_points() {
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(7), b = new_buffer(1);
  const cl_kernel add = new_kernel("add"), more = new_kernel("add"), sum = new_kernel("sum");
  const cl_command_buffer_khr buffer = new_commands(queue);
  const cl_sync_point_khr filled = fill(buffer, a, 5);
  set(add, 0, a);
  set(add, 1, cl_int{10});
  const cl_sync_point_khr first = launch(buffer, add, {filled});
  set(more, 0, a);
  set(more, 1, cl_int{100});
  const cl_sync_point_khr second = launch(buffer, more, {first});
  CHECK(first != filled && second != first);
  set(sum, 0, b);
  set(sum, 1, a);
  DO(clSetKernelArg(sum, 2, 64 * sizeof(cl_int), nullptr));
  set(sum, 3, cl_int{2});
  const size_t local = 64;
  cl_sync_point_khr point = 0;
  DO(RECORD(clCommandBarrierWithWaitListKHR, buffer, nullptr, 1, &second, &point, nullptr));
  launch(buffer, sum, {second, point}, &local);
  finalize(buffer);
  for (int run = 1; run <= 3; ++run) {
    DO(enqueue(buffer));
    DO(clFinish(queue));
    expect(queue, a, 115, "filled, added twice");
    expect(queue, b, 1 + 230 * run, "summed");
  }
  release(buffer);
  for (const cl_mem mem : {a, b}) clReleaseMemObject(mem);
  for (const cl_kernel kernel : {add, more, sum}) clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
}

// What was recorded stays.
void arguments() {
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(), b = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue);
  set(add, 0, a);
  set(add, 1, cl_int{1});
  const cl_sync_point_khr first = launch(buffer, add);
  set(add, 1, cl_int{10});
  const cl_sync_point_khr second = launch(buffer, add, {first});
  set(add, 0, b);
  launch(buffer, add, {second});
  set(add, 1, cl_int{1000});
  const size_t size = Items;
  DO(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &size, nullptr, 0, nullptr, nullptr));
  finalize(buffer);
  DO(enqueue(buffer));
  DO(clFinish(queue));
  expect(queue, a, 11, "with its own arguments");
  expect(queue, b, 1010, "with others");
  release(buffer);
  for (const cl_mem mem : {a, b}) clReleaseMemObject(mem);
  clReleaseKernel(add);
  clReleaseCommandQueue(queue);
}

void copies() {
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(3), b = new_buffer(), c = new_buffer();
  std::vector<cl_int> values(Items);
  std::iota(values.begin(), values.end(), 0);
  DO(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, Bytes, values.data(), 0, nullptr, nullptr));
  const cl_command_buffer_khr buffer = new_commands(queue);
  cl_sync_point_khr copied = 0;
  DO(RECORD(clCommandCopyBufferKHR, buffer, nullptr, a, b, 0, 0, Bytes, 0, nullptr, &copied, nullptr));
  // 4 rows of 8 elements, from rows of 32 to rows of 16.
  const size_t from[] = {16, 1, 0}, to[] = {0, 2, 0}, region[] = {32, 4, 1};
  DO(RECORD(clCommandCopyBufferRectKHR, buffer, nullptr, b, c, from, to, region, 128, 0, 64, 0, 1, &copied, nullptr,
            nullptr));
  finalize(buffer);
  DO(enqueue(buffer));
  const std::vector<cl_int> all = contents(queue, b), some = contents(queue, c);
  CHECK(all == values);
  for (size_t row = 0; row < 4; ++row)
    for (size_t i = 0; i < 8; ++i) CHECK(some[(row + 2) * 16 + i] == static_cast<cl_int>((row + 1) * 32 + 4 + i));
  std::printf("copied %d, sum of a box %d\n", all[Items - 1], std::accumulate(some.begin(), some.end(), 0));
  release(buffer);
  for (const cl_mem mem : {a, b, c}) clReleaseMemObject(mem);
  clReleaseCommandQueue(queue);
}

cl_mem new_image() {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 16;
  desc.image_height = 8;
  cl_int code = 0;
  cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code);
  good(code, "image");
  return image;
}

void images() {
  cl_bool supported = CL_FALSE;
  DO(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported, nullptr));
  if (!supported) return void(std::puts("no images"));
  const cl_command_queue queue = new_queue();
  const cl_mem from = new_buffer(0x01020304), to = new_buffer(), one = new_image(), two = new_image();
  const cl_command_buffer_khr buffer = new_commands(queue);
  const cl_uint colour[] = {9, 8, 7, 6};
  const size_t origin[] = {0, 0, 0}, corner[] = {4, 2, 0}, whole[] = {16, 8, 1}, part[] = {8, 4, 1};
  cl_sync_point_khr p[4] = {};
  DO(RECORD(clCommandFillImageKHR, buffer, nullptr, one, colour, origin, whole, 0, nullptr, &p[0], nullptr));
  DO(RECORD(clCommandCopyBufferToImageKHR, buffer, nullptr, from, one, 16, corner, part, 1, &p[0], &p[1], nullptr));
  DO(RECORD(clCommandCopyImageKHR, buffer, nullptr, one, two, origin, origin, whole, 1, &p[1], &p[2], nullptr));
  DO(RECORD(clCommandCopyImageToBufferKHR, buffer, nullptr, two, to, origin, whole, 64, 1, &p[2], &p[3], nullptr));
  finalize(buffer);
  DO(enqueue(buffer));
  const std::vector<cl_int> values = contents(queue, to);
  const auto at = [&](size_t x, size_t y) { return values[16 + y * 16 + x]; };
  CHECK(at(0, 0) == 0x06070809 && at(4, 2) == 0x01020304 && at(11, 5) == 0x01020304 && at(12, 6) == 0x06070809);
  std::printf("images %x %x\n", at(15, 7), at(5, 3));
  release(buffer);
  for (const cl_mem mem : {from, to, one, two}) clReleaseMemObject(mem);
  clReleaseCommandQueue(queue);
}

void events() {
  const cl_command_queue queue = new_queue(CL_QUEUE_PROFILING_ENABLE);
  const cl_mem a = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  set(add, 0, a);
  set(add, 1, cl_int{1});
  const cl_sync_point_khr first = launch(buffer, add);
  launch(buffer, add, {first});
  finalize(buffer);
  cl_int code = 0;
  cl_event gate = clCreateUserEvent(context, &code), event[3] = {};
  DO(enqueue(buffer, 1, &gate, &event[0]));
  DO(enqueue(buffer, 1, &event[0], &event[1]));
  DO(enqueue(buffer, 0, nullptr, &event[2]));
  cl_int status = 99;
  DO(clGetEventInfo(event[1], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  CHECK(status > CL_COMPLETE);
  DO(clSetUserEventStatus(gate, CL_COMPLETE));
  DO(clWaitForEvents(3, event));
  expect(queue, a, 6, "three runs that waited");
  cl_command_type type = 0;
  DO(clGetEventInfo(event[2], CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  cl_command_queue of = nullptr;
  DO(clGetEventInfo(event[2], CL_EVENT_COMMAND_QUEUE, sizeof of, &of, nullptr));
  cl_ulong times[4] = {};
  for (cl_uint i = 0; i < 4; ++i)
    DO(clGetEventProfilingInfo(event[0], CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i], &times[i], nullptr));
  CHECK(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3]);
  std::printf("event: type %x, its queue %d\n", type, of == queue);
  for (const cl_event e : {gate, event[0], event[1], event[2]}) clReleaseEvent(e);
  release(buffer);
  clReleaseMemObject(a);
  clReleaseKernel(add);
  clReleaseCommandQueue(queue);
}

void other_queues() {
  const cl_command_queue queue = new_queue(), other = new_queue();
  const cl_mem a = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue);
  set(add, 0, a);
  set(add, 1, cl_int{4});
  launch(buffer, add);
  finalize(buffer);
  cl_event event = nullptr;
  for (int i = 0; i < 3; ++i) {
    DO(enqueue(buffer, 0, nullptr, &event, other));
    cl_command_queue of = nullptr;
    DO(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, nullptr));
    std::printf("in the other queue: %d\n", of == other);
    DO(clWaitForEvents(1, &event));
    clReleaseEvent(event);
  }
  DO(enqueue(buffer));
  DO(clFinish(queue));
  expect(queue, a, 16, "four runs");
  release(buffer);
  clReleaseMemObject(a);
  clReleaseKernel(add);
  for (const cl_command_queue q : {queue, other}) clReleaseCommandQueue(q);
}

// The command buffer goes on with what the program has let go of.
void outlives_its_parts() {
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(), b = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue);
  set(add, 0, a);
  set(add, 1, cl_int{6});
  const cl_sync_point_khr point = launch(buffer, add);
  DO(RECORD(clCommandCopyBufferKHR, buffer, nullptr, a, b, 0, 0, Bytes, 1, &point, nullptr, nullptr));
  finalize(buffer);
  clReleaseKernel(add);
  clReleaseMemObject(a);
  for (int i = 0; i < 2; ++i) {
    DO(enqueue(buffer));
    DO(clFinish(queue));
  }
  expect(queue, b, 12, "by parts that the program has released");
  release(buffer);
  clReleaseMemObject(b);
  clReleaseCommandQueue(queue);
}

void infos() {
  EXTENSION(clGetCommandBufferInfoKHR);
  EXTENSION(clRetainCommandBufferKHR);
  cl_bitfield able = 0, needs = 0;
  DO(clGetDeviceInfo(device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, sizeof able, &able, nullptr));
  DO(clGetDeviceInfo(device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, sizeof needs, &needs, nullptr));
  const cl_bitfield on_device = CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR;
  std::printf("capabilities %llx, needs %llx\n", static_cast<unsigned long long>(able & ~on_device),
              static_cast<unsigned long long>(needs));
  const cl_command_queue queue = new_queue();
  const cl_command_buffer_khr buffer = new_commands(queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  cl_command_queue of = nullptr;
  cl_uint count = 0, references = 0;
  size_t size = 0;
  DO(clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_QUEUES_KHR, sizeof of, &of, &size));
  DO(clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, sizeof count, &count, nullptr));
  DO(clRetainCommandBufferKHR(buffer));
  DO(clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, sizeof references, &references, nullptr));
  std::printf("queues %u, the queue %d in %zu bytes, references %u\n", count, of == queue, size, references);
  cl_command_buffer_properties_khr properties[4] = {};
  DO(clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, sizeof properties, properties, &size));
  std::printf("properties %llx %llx, %zu bytes\n", static_cast<unsigned long long>(properties[0]),
              static_cast<unsigned long long>(properties[1]), size);
  std::printf("states %u", state(buffer));
  finalize(buffer);
  std::printf(" %u\n", state(buffer));
  std::printf("no room %d, no such info %d\n",
              clGetCommandBufferInfoKHR(buffer, CL_COMMAND_BUFFER_STATE_KHR, 1, &count, nullptr),
              clGetCommandBufferInfoKHR(buffer, 1, sizeof count, &count, nullptr));
  release(buffer);
  release(buffer);
  clReleaseCommandQueue(queue);
}

// A value that is longer than a handle, and the sizes of a launch.
void updates_of_sizes() {
  EXTENSION(clCommandNDRangeKernelKHR);
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer();
  const cl_kernel wide = new_kernel("wide");
  const cl_command_buffer_khr buffer = new_commands(queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
  cl_int v[4] = {1, 0, 0, 2};
  set(wide, 0, a);
  DO(clSetKernelArg(wide, 1, sizeof v, v));
  const cl_ndrange_kernel_command_properties_khr fields[] = {
      CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
      CL_MUTABLE_DISPATCH_ARGUMENTS_KHR | CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
          CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
      0};
  const size_t size = Items, group = 16;
  cl_mutable_command_khr command = nullptr;
  DO(clCommandNDRangeKernelKHR(buffer, nullptr, fields, wide, 1, nullptr, &size, &group, 0, nullptr, nullptr,
                               &command));
  finalize(buffer);
  DO(enqueue(buffer));
  for (cl_int i = 1; i <= 3; ++i) {
    v[0] = 1000 * i;
    const size_t offset = static_cast<size_t>(i) * 64, items = Items / 2, local = static_cast<size_t>(4 << i);
    const cl_mutable_dispatch_arg_khr arg = {1, sizeof v, v};
    LaterConfig config{};
    config.command = command;
    config.num_args = 1;
    config.arg_list = &arg;
    config.work_dim = 1;
    config.global_work_offset = &offset;
    config.global_work_size = &items;
    config.local_work_size = &local;
    DO(update(buffer, config));
    DO(enqueue(buffer));
    const std::vector<cl_int> values = contents(queue, a);
    std::printf("of other sizes: %d %d %d\n", values[offset - 1], values[offset], values[offset + items]);
  }
  release(buffer);
  clReleaseMemObject(a);
  clReleaseKernel(wide);
  clReleaseCommandQueue(queue);
}

void updates() {
  if (version_of("cl_khr_command_buffer_mutable_dispatch") == 0) return void(std::puts("no updates"));
  updates_of_sizes();
  EXTENSION(clCommandNDRangeKernelKHR);
  EXTENSION(clGetMutableCommandInfoKHR);
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(), b = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
  set(add, 0, a);
  set(add, 1, cl_int{1});
  const cl_ndrange_kernel_command_properties_khr fields[] = {
      CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
      0};
  const size_t size = Items;
  cl_mutable_command_khr command = nullptr;
  DO(clCommandNDRangeKernelKHR(buffer, nullptr, fields, add, 1, nullptr, &size, nullptr, 0, nullptr, nullptr,
                               &command));
  finalize(buffer);
  DO(enqueue(buffer));
  DO(clFinish(queue));
  const cl_int ten = 10;
  const cl_mutable_dispatch_arg_khr args[] = {{0, sizeof b, &b}, {1, sizeof ten, &ten}};
  LaterConfig config{};
  config.command = command;
  config.num_args = 2;
  config.arg_list = args;
  DO(update(buffer, config));
  DO(enqueue(buffer));
  DO(clFinish(queue));
  expect(queue, a, 1, "before the update");
  expect(queue, b, 10, "after it");
  const size_t half = Items / 2;
  config.num_args = 0;
  config.arg_list = nullptr;
  config.work_dim = 1;
  config.global_work_size = &half;
  DO(update(buffer, config));
  DO(enqueue(buffer));
  DO(clFinish(queue));
  const std::vector<cl_int> values = contents(queue, b);
  std::printf("half of them: %d %d\n", values[half - 1], values[half]);
  cl_kernel kernel = nullptr;
  cl_command_buffer_khr of = nullptr;
  cl_uint dimensions = 0;
  DO(clGetMutableCommandInfoKHR(command, CL_MUTABLE_DISPATCH_KERNEL_KHR, sizeof kernel, &kernel, nullptr));
  DO(clGetMutableCommandInfoKHR(command, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, sizeof of, &of, nullptr));
  DO(clGetMutableCommandInfoKHR(command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, sizeof dimensions, &dimensions, nullptr));
  std::printf("command: kernel %d, buffer %d, dimensions %u\n", kernel == add, of == buffer, dimensions);
  const cl_mutable_dispatch_arg_khr wrong = {7, sizeof ten, &ten};
  config = {};
  config.command = command;
  config.num_args = 1;
  config.arg_list = &wrong;
  std::printf("no such argument: %d\n", update(buffer, config));
  release(buffer);
  for (const cl_mem mem : {a, b}) clReleaseMemObject(mem);
  clReleaseKernel(add);
  clReleaseCommandQueue(queue);
}

void errors(bool all) {
  EXTENSION(clCreateCommandBufferKHR);
  EXTENSION(clFinalizeCommandBufferKHR);
  EXTENSION(clRetainCommandBufferKHR);
  EXTENSION(clReleaseCommandBufferKHR);
  EXTENSION(clEnqueueCommandBufferKHR);
  EXTENSION(clCommandNDRangeKernelKHR);
  EXTENSION(clGetCommandBufferInfoKHR);
  const auto say = [](const char* what, cl_int code) { std::printf("%s: %d\n", what, code); };
  const cl_command_queue queue = new_queue(), other = new_queue(), profiles = new_queue(CL_QUEUE_PROFILING_ENABLE);
  const cl_mem a = new_buffer();
  const cl_kernel add = new_kernel("add");
  cl_int code = 0;
  clCreateCommandBufferKHR(0, nullptr, nullptr, &code), say("for no queues", code);
  clCreateCommandBufferKHR(1, nullptr, nullptr, &code), say("without queues", code);
  cl_command_queue null = nullptr;
  if (all) clCreateCommandBufferKHR(1, &null, nullptr, &code), say("* a queue that is none", code);
  const cl_command_buffer_properties_khr unknown[] = {0x7777, 1, 0};
  clCreateCommandBufferKHR(1, &queue, unknown, &code), say("an unknown property", code);
  say("finalize none", clFinalizeCommandBufferKHR(nullptr));
  say("retain none", clRetainCommandBufferKHR(nullptr));
  say("release none", clReleaseCommandBufferKHR(nullptr));
  say("enqueue none", clEnqueueCommandBufferKHR(0, nullptr, nullptr, 0, nullptr, nullptr));
  say("info of none", clGetCommandBufferInfoKHR(nullptr, CL_COMMAND_BUFFER_STATE_KHR, 0, nullptr, nullptr));
  const cl_command_buffer_khr buffer = new_commands(queue);
  say("enqueue while recording", enqueue(buffer));
  const size_t size = Items;
  const auto record = [&](cl_command_queue in, cl_kernel kernel, cl_uint n, const size_t* sizes) {
    return clCommandNDRangeKernelKHR(buffer, in, nullptr, kernel, n, nullptr, sizes, nullptr, 0, nullptr, nullptr,
                                     nullptr);
  };
  if (all) say("* no arguments", record(nullptr, add, 1, &size));
  set(add, 0, a);
  set(add, 1, cl_int{1});
  if (all) say("* no kernel", record(nullptr, nullptr, 1, &size));
  if (all) say("* no dimensions", record(nullptr, add, 0, &size));
  if (all) say("* four dimensions", record(nullptr, add, 4, &size));
  say("another queue", record(other, add, 1, &size));
  const cl_int value = 1;
  const auto fills = [&](cl_mem mem, size_t offset, size_t bytes, size_t pattern) {
    return RECORD(clCommandFillBufferKHR, buffer, nullptr, mem, &value, pattern, offset, bytes, 0, nullptr, nullptr,
                  nullptr);
  };
  say("fill none", fills(nullptr, 0, Bytes, 4));
  say("fill beyond the end", fills(a, Bytes, 4, 4));
  say("fill between elements", fills(a, 2, 4, 4));
  const auto copies = [&](cl_mem from, cl_mem to, size_t at, size_t bytes) {
    return RECORD(clCommandCopyBufferKHR, buffer, nullptr, from, to, 0, at, bytes, 0, nullptr, nullptr, nullptr);
  };
  say("copy from none", copies(nullptr, a, 0, 4));
  say("copy onto itself", copies(a, a, 2, 64));
  say("copy beyond the end", copies(a, a, Bytes - 4, 8));
  fill(buffer, a, 0);
  DO(record(nullptr, add, 1, &size));
  finalize(buffer);
  say("record into a finalized one", record(nullptr, add, 1, &size));
  say("one queue that is not there", clEnqueueCommandBufferKHR(1, nullptr, buffer, 0, nullptr, nullptr));
  cl_command_queue two[] = {queue, other};
  say("two queues for one", clEnqueueCommandBufferKHR(2, two, buffer, 0, nullptr, nullptr));
  say("a queue for none", clEnqueueCommandBufferKHR(0, two, buffer, 0, nullptr, nullptr));
  say("a queue that is none", clEnqueueCommandBufferKHR(1, &null, buffer, 0, nullptr, nullptr));
  say("a queue of other properties", enqueue(buffer, 0, nullptr, nullptr, profiles));
  DO(clFinish(profiles));
  say("a wait list that is none", enqueue(buffer, 1, nullptr));
  cl_event gate = clCreateUserEvent(context, &code);
  DO(enqueue(buffer, 1, &gate));
  std::printf("pending: state %u\n", state(buffer));
  say("enqueue while pending", enqueue(buffer));
  DO(clSetUserEventStatus(gate, CL_COMPLETE));
  DO(clFinish(queue));
  std::printf("again: state %u\n", state(buffer));
  say("enqueue again", enqueue(buffer));
  say("finish", clFinish(queue));
  expect(queue, a, 1, "filled and added");
  release(buffer);
  clReleaseEvent(gate);
  clReleaseKernel(add);
  clReleaseMemObject(a);
  for (const cl_command_queue q : {queue, other, profiles}) clReleaseCommandQueue(q);
}

// Runs between writes and reads by other commands: what replay has to get right.
void captured() {
  const cl_command_queue queue = new_queue();
  const cl_mem a = new_buffer(2), b = new_buffer();
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue);
  set(add, 0, a);
  set(add, 1, cl_int{3});
  const cl_sync_point_khr point = launch(buffer, add);
  DO(RECORD(clCommandCopyBufferKHR, buffer, nullptr, a, b, 0, 0, Bytes, 1, &point, nullptr, nullptr));
  finalize(buffer);
  for (int run = 0; run < 3; ++run) {
    DO(enqueue(buffer));
    DO(clFinish(queue));
    expect(queue, b, run < 2 ? 5 + 3 * run : 53, "captured");
    const std::vector<cl_int> values(Items, 50);
    if (run == 1) DO(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, Bytes, values.data(), 0, nullptr, nullptr));
  }
  const cl_kernel more = new_kernel("add");
  set(more, 0, a);
  set(more, 1, cl_int{1000});
  const size_t size = Items;
  DO(clEnqueueNDRangeKernel(queue, more, 1, nullptr, &size, nullptr, 0, nullptr, nullptr));
  DO(enqueue(buffer));
  DO(clFinish(queue));
  clReleaseKernel(more);
  expect(queue, b, 1056, "after a launch by itself");
  release(buffer);
  for (const cl_mem mem : {a, b}) clReleaseMemObject(mem);
  clReleaseKernel(add);
  clReleaseCommandQueue(queue);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Run>
double median_seconds(int runs, Run run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(seconds_since(begin));
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<size_t>(runs / 2)];
}

void rate(int count, int runs) {
  const cl_command_queue queue = new_queue();
  cl_int code = 0;
  const cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(cl_int), nullptr, &code);
  const cl_kernel add = new_kernel("add");
  const cl_command_buffer_khr buffer = new_commands(queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  EXTENSION(clCommandNDRangeKernelKHR);
  const size_t size = 1;
  set(add, 0, a);
  const auto recording = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    set(add, 1, cl_int{i});
    DO(clCommandNDRangeKernelKHR(buffer, nullptr, nullptr, add, 1, nullptr, &size, &size, 0, nullptr, nullptr,
                                 nullptr));
  }
  finalize(buffer);
  const double recorded = seconds_since(recording);
  DO(enqueue(buffer));
  DO(clFinish(queue));
  const double together = median_seconds(runs, [&] {
    DO(enqueue(buffer));
    DO(clFinish(queue));
  });
  const double alone = median_seconds(runs, [&] {
    for (int i = 0; i < count; ++i) {
      set(add, 1, cl_int{i});
      DO(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &size, &size, 0, nullptr, nullptr));
    }
    DO(clFinish(queue));
  });
  std::printf("%d launches: recorded in %.1f us each; %.1f us in a command buffer, %.0f/s; %.1f us alone, %.0f/s\n",
              count, recorded * 1e6 / count, together * 1e6, count / together, alone * 1e6, count / alone);
  release(buffer);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const std::string what = argc > 1 ? argv[1] : "";
  if (!begin()) {
    std::puts("no command buffers");
    return 77;
  }
  if (what == "rate" && argc > 3) {
    rate(std::atoi(argv[2]), std::atoi(argv[3]));
  } else if (what == "errors") {
    errors(argc > 2);
  } else if (what == "arguments") {
    arguments();
    outlives_its_parts();
    infos();
  } else if (what == "capture") {
    captured();
  } else {
    launches_and_sync_points();
    copies();
    images();
    events();
    other_queues();
    updates();
  }
  clReleaseProgram(program);
  clReleaseContext(context);
  return 0;
}
