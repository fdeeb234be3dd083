// libFuzzer: any bytes as the frames and notices of a client, after a beginning that makes one object of each kind.
//
// Input: [length low][length high][frame...] or [0xff][0xff][slot][transfer][bytes low][bytes high]: a chunk.
#include <CL/cl_icd.h>

#include <cstdint>
#include <cstring>

#include "traces/api/encode.h"
#include "transport/executor/executor.h"
#include "transport/link/local_link.h"
#include "transport/protocol/codec.h"

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) extern "C" RET CL_API_CALL NAME PARAMS;
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT

using namespace gt;
using api::FnId;

namespace {

// Kernels that the fake runs take their arguments for objects; nothing tells it that they are not.
cl_kernel only_nothing(cl_program program, const char* name, cl_int* code) {
  if (name && !std::strcmp(name, "nothing")) return clCreateKernel(program, name, code);
  if (code) *code = CL_INVALID_KERNEL_NAME;
  return nullptr;
}
cl_int no_kernels(cl_program, cl_uint, cl_kernel*, cl_uint*) { return CL_INVALID_OPERATION; }

exec::Functions functions() {
  exec::Functions all;
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  all.of[static_cast<size_t>(FnId::NAME)] = reinterpret_cast<exec::AnyFunction>(&::NAME);
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
  all.of[static_cast<size_t>(FnId::clCreateKernel)] = reinterpret_cast<exec::AnyFunction>(&only_nothing);
  all.of[static_cast<size_t>(FnId::clCreateKernelsInProgram)] = reinterpret_cast<exec::AnyFunction>(&no_kernels);
  return all;
}

struct Deaf : wire::LinkHandler {
  void on_frame(ByteView) override {}
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status&) override {}
};

class Session {
 public:
  explicit Session(const exec::Functions& all) {
    exec::Limits limits;
    limits.memory_bytes = 1 << 20;
    limits.message_bytes = 1 << 20;
    limits.build_seconds = 0;
    exec::Options options;
    options.inbox_slots = options.outbox_slots = 4;
    options.slot_bytes = 256;
    x_executor = std::make_unique<exec::Executor>(all, *x_links.second, limits, std::move(options));
    static_cast<void>(x_links.first->start(x_deaf));
    static_cast<void>(x_executor->start());
    begin();
  }
  bool is_closed() const { return x_links.first->is_closed(); }
  void frame(ByteView frame) { x_executor->on_frame(frame); }
  void chunk(uint8_t slot, uint8_t transfer, size_t bytes) {
    x_executor->on_put(wire::chunk_notice(transfer, slot), bytes);
  }

 private:
  template <FnId F, class... A>
  void call(wire::ObjectId result, A... args) {
    api::VectorWriter inputs;
    [&]<size_t... I>(std::index_sequence<I...>, const auto& all) {
      api::encode_inputs<F, api::Contents::Full>(inputs, static_cast<api::ParamType<F, I>>(std::get<I>(all))...);
    }(std::index_sequence_for<A...>{}, std::tuple<A...>(args...));
    wire::Call m;
    m.fn = static_cast<uint16_t>(F);
    m.result = result;
    m.inputs = inputs.view();
    say(m);
  }
  template <class Message>
  void say(const Message& m) {
    Bytes bytes;
    wire::encode(m, bytes);
    frame(bytes);
  }
  // Names: 1 context, 2 queue, 3 queue out of order, 4 buffer, 5 program, 6 kernel, 7 user event.
  void begin() {
    say(wire::Survey());
    const auto device = reinterpret_cast<cl_device_id>(wire::FirstSurveyed + 1);
    const auto context = reinterpret_cast<cl_context>(uint64_t{1});
    const char* source = "kernel void nothing(int a) {}";
    cl_int code = 0;
    call<FnId::clCreateContext>(1, nullptr, 1, &device, nullptr, nullptr, &code);
    call<FnId::clCreateCommandQueue>(2, context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    call<FnId::clCreateCommandQueue>(3, context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    call<FnId::clCreateBuffer>(4, context, CL_MEM_READ_WRITE, size_t{1024}, nullptr, &code);
    call<FnId::clCreateProgramWithSource>(5, context, 1, &source, nullptr, &code);
    const auto program = reinterpret_cast<cl_program>(uint64_t{5});
    call<FnId::clCreateKernel>(6, program, "nothing", &code);
    call<FnId::clCreateUserEvent>(7, context, &code);
  }

  Deaf x_deaf;
  std::pair<std::unique_ptr<wire::Link>, std::unique_ptr<wire::Link>> x_links = wire::make_local_link();
  std::unique_ptr<exec::Executor> x_executor;
};

// All memory of the process is shared inside it, whatever the address: not for strangers.
bool is_shared(ByteView frame) {
  wire::Write write;
  wire::Read read;
  if (frame[0] == static_cast<uint8_t>(wire::MessageType::Write) && wire::decode(frame, write))
    return write.segment == wire::WholeProcess;
  if (frame[0] == static_cast<uint8_t>(wire::MessageType::Read) && wire::decode(frame, read))
    return read.segment == wire::WholeProcess;
  return frame[0] == static_cast<uint8_t>(wire::MessageType::FragmentToExecutor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const exec::Functions all = functions();
  Session session(all);
  ByteView left(data, size);
  while (left.size() >= 3 && !session.is_closed()) {
    const size_t length = left[0] | size_t{left[1]} << 8;
    if (length == 0xffff) {
      if (left.size() < 6) break;
      session.chunk(left[2], left[3], left[4] | size_t{left[5]} << 8);
      left = left.subspan(6);
      continue;
    }
    left = left.subspan(2);
    const ByteView frame = left.first(std::min(length, left.size()));
    left = left.subspan(frame.size());
    if (!frame.empty() && !is_shared(frame)) session.frame(frame);
  }
  return 0;
}
