// A client of an executor that records command buffers.
// Thread safety: the test's own.
#pragma once

#include <CL/cl_ext.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/unit/executor_client.h"

namespace gt::exec {

inline constexpr const char* Source = "kernel void add(global int* a, int x) { a[get_global_id(0)] += x; }";

inline cl_int code_of_reply(const std::vector<api::DecodedArg>& outputs) {
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
    ask<api::FnId::clCreateCommandBufferKHR>(id, 1u, &q, nullptr, &code);
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
    std::vector<size_t> size(std::max(dimensions, 3u), 1);  // encoding reads as many as it is told
    size[0] = 4;
    cl_sync_point_khr given = 0;
    cl_mutable_command_khr command = nullptr;
    const auto answer = ask<api::FnId::clCommandNDRangeKernelKHR>(
        handle, c(), nullptr, nullptr, named<cl_kernel>(kernel), dimensions, nullptr, size.data(), nullptr,
        static_cast<cl_uint>(after.size()), after.empty() ? nullptr : after.data(), &given,
        handle ? &command : nullptr);
    for (const api::DecodedArg& arg : answer)
      if (arg.param == 10 && arg.tag == api::Tag::Int) point = static_cast<cl_sync_point_khr>(arg.value);
    return code_of_reply(answer);
  }
  cl_int finalize() { return code_of_reply(ask<api::FnId::clFinalizeCommandBufferKHR>(0, c())); }
  void enqueue(ObjectId event = 0) {
    cl_event wanted = nullptr;
    call<api::FnId::clEnqueueCommandBufferKHR>(0, event, 0u, nullptr, c(), 0u, nullptr, event ? &wanted : nullptr);
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

inline wire::KernelArg number_arg(uint32_t index, const int& v) {
  wire::KernelArg arg;
  arg.index = index;
  arg.value = {reinterpret_cast<const uint8_t*>(&v), sizeof v};
  return arg;
}

inline ObjectId zeros(Ready& client) {
  const ObjectId buffer = client.new_buffer(16);
  client.write(client.queue, buffer, 0, Bytes(16));
  return buffer;
}

}  // namespace gt::exec
