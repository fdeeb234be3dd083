// libFuzzer: any bytes as the frames and notices of a client, after a beginning that makes one object of each kind.
//
// Input: [length low][length high][frame...] or [0xff][0xff][slot][transfer][bytes low][bytes high]: a chunk.
#include <CL/cl_icd.h>

#include <cstdint>
#include <cstring>

#include "tests/fuzz/seeds.h"
#include "tests/unit/call_frames.h"
#include "transport/executor/executor.h"
#include "transport/link/local_link.h"

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) extern "C" RET CL_API_CALL NAME PARAMS;
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT

using namespace gt;
using api::FnId;
using testing::framed;
using testing::named;

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

// Its results come as answer 1.
template <FnId F, class... A>
Bytes call(wire::ObjectId result, wire::ObjectId event, A... args) {
  return testing::call_frame<F>({1, result, event}, args...);
}

enum : wire::ObjectId { Context = 1, Queue, AnyOrder, Buffer, Program, Kernel, UserEvent, Unused };

// One object of each kind.
std::vector<Bytes> beginning() {
  const auto device = named<cl_device_id>(wire::FirstSurveyed + 1);
  const auto context = named<cl_context>(Context);
  const char* source = "kernel void nothing(int a) {}";
  cl_int code = 0;
  return {framed(wire::Survey()),
          call<FnId::clCreateContext>(Context, 0, nullptr, 1, &device, nullptr, nullptr, &code),
          call<FnId::clCreateCommandQueue>(Queue, 0, context, device, CL_QUEUE_PROFILING_ENABLE, &code),
          call<FnId::clCreateCommandQueue>(AnyOrder, 0, context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code),
          call<FnId::clCreateBuffer>(Buffer, 0, context, CL_MEM_READ_WRITE, size_t{1024}, nullptr, &code),
          call<FnId::clCreateProgramWithSource>(Program, 0, context, 1, &source, nullptr, &code),
          call<FnId::clCreateKernel>(Kernel, 0, named<cl_program>(Program), "nothing", &code),
          call<FnId::clCreateUserEvent>(UserEvent, 0, context, &code)};
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
    static const std::vector<Bytes> first = beginning();
    for (const Bytes& f : first) frame(f);
  }
  bool is_closed() const { return x_links.first->is_closed(); }
  void frame(ByteView frame) { x_executor->on_frame(frame); }
  void chunk(uint8_t slot, uint8_t transfer, size_t bytes) {
    x_executor->on_put(wire::chunk_notice(transfer, slot), bytes);
  }

 private:
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

Bytes as_input(const Bytes& frame) {
  Bytes input{static_cast<uint8_t>(frame.size()), static_cast<uint8_t>(frame.size() >> 8)};
  input.insert(input.end(), frame.begin(), frame.end());
  return input;
}

template <class Transfer>
Bytes transfer(wire::Carriage carriage, wire::Part::Shape shape, uint64_t bytes) {
  Transfer m;
  m.queue = Queue;
  m.mem = Buffer;
  m.event = Unused;
  m.transfer = 1;
  m.carriage = carriage;
  m.part.shape = shape;
  m.part.region = {bytes, 1, 1};
  m.bytes = bytes;
  if constexpr (requires { m.data; }) {
    static const Bytes Content(16);
    if (carriage == wire::Carriage::Inline) m.data = Content;
  }
  return framed(m);
}

wire::Launch launch() {
  wire::Launch m;
  m.queue = Queue;
  m.kernel = Kernel;
  m.event = Unused;
  m.dimensions = 1;
  m.global = {4, 1, 1};
  wire::KernelArg arg;
  static const Bytes Four(4);
  arg.value = Four;
  m.args.push_back(arg);
  m.waits = {UserEvent};
  return m;
}

wire::Build build() {
  wire::Build m;
  m.reply = 2;
  m.program = Program;
  m.options = "-D A";
  return m;
}

std::vector<Bytes> frames() {
  cl_int code = 0;
  const auto context = named<cl_context>(Context);
  const auto queue = named<cl_command_queue>(AnyOrder);
  const auto buffer = named<cl_mem>(Buffer);
  const auto user_event = named<cl_event>(UserEvent);
  const cl_buffer_region region{128, 64};
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 8;
  const uint32_t pattern = 7;
  const size_t origin[3] = {}, box[3] = {16, 2, 1};
  size_t got = 0, room[16] = {};
  using Shape = wire::Part::Shape;
  using wire::Carriage;
  wire::Finish all;
  all.reply = 3;
  wire::Subscribe subscribe;
  subscribe.event = Unused;
  std::vector<Bytes> list = beginning();
  const Bytes more[] = {
      framed(launch()), framed(build()), framed(all), framed(subscribe), framed(wire::Ping()),
      transfer<wire::Write>(Carriage::Inline, Shape::Range, 16),
      transfer<wire::Read>(Carriage::Inline, Shape::Range, 16),
      transfer<wire::Write>(Carriage::Stream, Shape::Range, 600),
      transfer<wire::Read>(Carriage::Stream, Shape::Box, 600),
      call<FnId::clCreateSubBuffer>(Unused, 0, buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code),
      call<FnId::clCreateImage>(Unused, 0, context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code),
      call<FnId::clCreateSampler>(Unused, 0, context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &code),
      call<FnId::clEnqueueCopyBuffer>(0, Unused, queue, buffer, buffer, 0, 512, 64, 1, &user_event, nullptr),
      call<FnId::clEnqueueFillBuffer>(0, Unused, queue, buffer, &pattern, sizeof pattern, 0, 64, 0, nullptr, nullptr),
      call<FnId::clEnqueueCopyBufferRect>(0, Unused, queue, buffer, buffer, origin, origin, box, 32, 0, 32, 0, 0,
                                          nullptr, nullptr),
      call<FnId::clEnqueueMarkerWithWaitList>(0, Unused, queue, 1, &user_event, nullptr),
      call<FnId::clEnqueueBarrierWithWaitList>(0, Unused, queue, 0, nullptr, nullptr),
      call<FnId::clEnqueueMigrateMemObjects>(0, Unused, queue, 1, &buffer, 0, 0, nullptr, nullptr),
      call<FnId::clSetUserEventStatus>(0, 0, user_event, CL_COMPLETE),
      call<FnId::clReleaseMemObject>(0, 0, buffer), call<FnId::clReleaseEvent>(0, 0, user_event),
      call<FnId::clReleaseCommandQueue>(0, 0, queue), call<FnId::clReleaseContext>(0, 0, context),
      call<FnId::clFlush>(0, 0, queue),
      call<FnId::clGetMemObjectInfo>(0, 0, buffer, CL_MEM_SIZE, sizeof room, room, &got),
      call<FnId::clGetEventInfo>(0, 0, user_event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof room, room, &got)};
  list.insert(list.end(), std::begin(more), std::end(more));
  return list;
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  std::vector<Bytes> seeds{{0xff, 0xff, 0, 1, 0, 1}};
  for (const Bytes& frame : frames()) seeds.push_back(as_input(frame));
  return seeds;
}

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
