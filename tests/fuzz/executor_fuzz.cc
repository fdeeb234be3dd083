// libFuzzer: any bytes as the frames and notices of a client, after a beginning that makes one object of each kind.
//
// Input: [length low][length high][frame...] or [0xff][0xff][slot][transfer][bytes low][bytes high]: a chunk.
#include <sys/mman.h>

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cl/driver.h"
#include "tests/fuzz/seeds.h"
#include "tests/unit/call_frames.h"
#include "transport/executor/executor.h"
#include "transport/link/local_link.h"

#if defined(__SANITIZE_ADDRESS__)
#define GT_FUZZ_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GT_FUZZ_POISONS 1
#endif
#endif
#ifdef GT_FUZZ_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

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

// Blocks of shared virtual memory whose addresses an input can know: the n-th that is taken lies at a fixed place, if
// the one before it there is free. What is nobody's between them may not be touched.
class Arena {
 public:
  static constexpr uintptr_t Base = 0x200000000000;
  static constexpr size_t Room = 1 << 16, Blocks = 16;

  void* take(size_t bytes, size_t alignment) {
    const auto free = std::find(taken_.begin(), taken_.end(), false);
    if (free == taken_.end() || bytes == 0 || bytes > Room / 2 || alignment > 4096) return nullptr;
    *free = true;
    ASAN_UNPOISON_MEMORY_REGION(at(free), bytes);
    return at(free);
  }
  void give_back(void* p) {
    const size_t i = (reinterpret_cast<uintptr_t>(p) - Base) / Room;
    if (i >= Blocks || p != at(taken_.begin() + static_cast<std::ptrdiff_t>(i)) || !taken_[i]) std::abort();
    taken_[i] = false;
    ASAN_POISON_MEMORY_REGION(p, Room);
  }
  static Arena& get() {
    static Arena arena;
    return arena;
  }

 private:
  Arena() {
    constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    auto* const wanted = reinterpret_cast<void*>(Base);
    if (::mmap(wanted, Room * Blocks, PROT_READ | PROT_WRITE, Flags, -1, 0) != wanted) {
      std::fprintf(stderr, "no place for shared virtual memory\n");
      std::abort();
    }
    ASAN_POISON_MEMORY_REGION(wanted, Room * Blocks);
  }
  void* at(std::array<bool, Blocks>::iterator i) {
    return reinterpret_cast<void*>(Base + static_cast<size_t>(i - taken_.begin()) * Room);
  }

  std::array<bool, Blocks> taken_{};
};

void* svm_alloc(cl_context context, cl_svm_mem_flags, size_t bytes, cl_uint alignment) {
  return context ? Arena::get().take(bytes, alignment) : nullptr;
}
void svm_free(cl_context, void* p) {
  if (p) Arena::get().give_back(p);
}

exec::Functions functions() {
  exec::Functions all;
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) all.of[fn] = fake::exported(static_cast<FnId>(fn));
  all.of[static_cast<size_t>(FnId::clCreateKernel)] = reinterpret_cast<exec::AnyFunction>(&only_nothing);
  all.of[static_cast<size_t>(FnId::clCreateKernelsInProgram)] = reinterpret_cast<exec::AnyFunction>(&no_kernels);
  all.of[static_cast<size_t>(FnId::clSVMAlloc)] = reinterpret_cast<exec::AnyFunction>(&svm_alloc);
  all.of[static_cast<size_t>(FnId::clSVMFree)] = reinterpret_cast<exec::AnyFunction>(&svm_free);
  return all;
}

// Its results come as answer 1.
template <FnId F, class... A>
Bytes call(wire::ObjectId result, wire::ObjectId event, A... args) {
  return testing::call_frame<F>({1, result, event}, args...);
}

enum : wire::ObjectId {
  Context = 1, Queue, AnyOrder, Buffer, Program, Kernel, UserEvent, Block, OtherBlock, Commands, Unused
};

constexpr size_t BlockBytes = 1024;
void* in_block(size_t offset) { return reinterpret_cast<void*>(Arena::Base + offset); }
void* in_other_block(size_t offset) { return reinterpret_cast<void*>(Arena::Base + Arena::Room + offset); }

// One object of each kind.
std::vector<Bytes> beginning() {
  const auto device = named<cl_device_id>(wire::FirstSurveyed + 1);
  const auto context = named<cl_context>(Context);
  const auto queue = named<cl_command_queue>(Queue);
  const char* source = "kernel void nothing(int a) {}";
  cl_int code = 0;
  return {framed(wire::Survey()),
          call<FnId::clCreateContext>(Context, 0, nullptr, 1, &device, nullptr, nullptr, &code),
          call<FnId::clCreateCommandQueue>(Queue, 0, context, device, CL_QUEUE_PROFILING_ENABLE, &code),
          call<FnId::clCreateCommandQueue>(AnyOrder, 0, context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code),
          call<FnId::clCreateBuffer>(Buffer, 0, context, CL_MEM_READ_WRITE, size_t{1024}, nullptr, &code),
          call<FnId::clCreateProgramWithSource>(Program, 0, context, 1, &source, nullptr, &code),
          call<FnId::clCreateKernel>(Kernel, 0, named<cl_program>(Program), "nothing", &code),
          call<FnId::clCreateUserEvent>(UserEvent, 0, context, &code),
          call<FnId::clSVMAlloc>(Block, 0, context, CL_MEM_READ_WRITE, BlockBytes, 0u),
          call<FnId::clSVMAlloc>(OtherBlock, 0, context, CL_MEM_READ_ONLY, BlockBytes, 64u),
          call<FnId::clCreateCommandBufferKHR>(Commands, 0, 1u, &queue, nullptr, &code)};
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
    options.inbox_slots = options.read_slots = 4;
    options.slot_bytes = 256;
    options.ring_bytes = 4096;
    options.small_bytes = 4096;
    executor_ = std::make_unique<exec::Executor>(all, *links_.second, limits, std::move(options));
    static_cast<void>(links_.first->start(deaf_));
    static_cast<void>(executor_->start());
    static const std::vector<Bytes> first = beginning();
    for (const Bytes& f : first) frame(f);
  }
  bool is_closed() const { return links_.first->is_closed(); }
  void frame(ByteView frame) { executor_->on_frame(frame); }
  void chunk(uint8_t slot, uint8_t transfer, size_t bytes) {
    executor_->on_put(wire::chunk_notice(transfer, slot), bytes);
  }

 private:
  Deaf deaf_;
  std::pair<std::unique_ptr<wire::Link>, std::unique_ptr<wire::Link>> links_ = wire::make_local_link();
  std::unique_ptr<exec::Executor> executor_;
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
Bytes transfer(wire::DataPath data_path, wire::Part::Shape shape, uint64_t bytes, wire::ObjectId mem = Buffer) {
  Transfer m;
  m.queue = Queue;
  m.mem = mem;
  m.event = Unused;
  m.transfer = 1;
  m.data_path = data_path;
  m.part.shape = shape;
  m.part.region = {bytes, 1, 1};
  m.bytes = bytes;
  if constexpr (requires { m.data; }) {
    static const Bytes Content(16);
    if (data_path == wire::DataPath::Inline) m.data = Content;
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

wire::Launch launch_on(const void* pointer) {
  wire::Launch m = launch();
  wire::KernelArg& arg = m.args[0];
  arg.form = wire::KernelArg::Form::Svm;
  arg.object = reinterpret_cast<uint64_t>(pointer);
  arg.value = {};
  return m;
}

wire::Build build() {
  wire::Build m;
  m.reply = 2;
  m.program = Program;
  m.options = "-D A";
  return m;
}

std::vector<Bytes> svm_frames() {
  cl_int code = 0;
  const auto context = named<cl_context>(Context);
  const auto queue = named<cl_command_queue>(AnyOrder);
  const auto user_event = named<cl_event>(UserEvent);
  const auto kernel = named<cl_kernel>(Kernel);
  const uint64_t pattern[16] = {7};
  const void* both[] = {in_block(0), in_other_block(100)};
  const size_t sizes[] = {BlockBytes, 0};
  constexpr cl_kernel_exec_info Reached = CL_KERNEL_EXEC_INFO_SVM_PTRS;
  constexpr cl_mem_flags Over = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
  using Shape = wire::Part::Shape;
  using wire::DataPath;
  // A buffer over a block has no contents in the message.
  api::VectorWriter buffer_inputs;
  api::encode_inputs<FnId::clCreateBuffer, api::Contents::None>(buffer_inputs, context, Over, BlockBytes, in_block(0),
                                                                &code);
  wire::Call buffer;
  buffer.fn = static_cast<uint16_t>(FnId::clCreateBuffer);
  buffer.reply = 1;
  buffer.result = Unused;
  buffer.inputs = buffer_inputs.view();
  return {
      call<FnId::clSVMAlloc>(Unused, 0, context, CL_MEM_WRITE_ONLY, size_t{100}, 128u),
      call<FnId::clSVMFree>(0, 0, context, in_block(0)),
      call<FnId::clSVMFree>(0, 0, context, in_other_block(0)),
      call<FnId::clEnqueueSVMMemcpy>(0, Unused, queue, CL_FALSE, in_block(10), in_other_block(24), 1000, 1, &user_event,
                                     nullptr),
      call<FnId::clEnqueueSVMMemcpy>(0, 0, queue, CL_FALSE, in_block(0), in_block(512), 512, 0, nullptr, nullptr),
      call<FnId::clEnqueueSVMMemFill>(0, Unused, queue, in_block(128), pattern, sizeof pattern, 896, 1, &user_event,
                                      nullptr),
      call<FnId::clEnqueueSVMMemFill>(0, 0, queue, in_other_block(1), pattern, 1, 1023, 0, nullptr, nullptr),
      call<FnId::clEnqueueSVMMap>(0, Unused, queue, CL_FALSE, CL_MAP_READ, in_block(0), BlockBytes, 0, nullptr,
                                  nullptr),
      call<FnId::clEnqueueSVMUnmap>(0, Unused, queue, in_block(0), 0, nullptr, nullptr),
      call<FnId::clEnqueueSVMMigrateMem>(0, Unused, queue, 2, both, sizes, CL_MIGRATE_MEM_OBJECT_HOST, 1, &user_event,
                                         nullptr),
      call<FnId::clEnqueueSVMMigrateMem>(0, 0, queue, 2, both, nullptr, 0, 0, nullptr, nullptr),
      call<FnId::clSetKernelExecInfo>(0, 0, kernel, Reached, sizeof both, both), framed(buffer),
      framed(launch_on(in_block(1020))), framed(launch_on(nullptr)),
      transfer<wire::Write>(DataPath::Inline, Shape::Range, 16, Block),
      transfer<wire::Read>(DataPath::Inline, Shape::Range, 16, OtherBlock),
      transfer<wire::Write>(DataPath::Stream, Shape::Range, 600, OtherBlock),
      transfer<wire::Read>(DataPath::Stream, Shape::Range, 1024, Block)};
}

std::vector<Bytes> command_buffer_frames() {
  cl_int code = 0;
  const auto commands = named<cl_command_buffer_khr>(Commands);
  const auto queue = named<cl_command_queue>(Queue);
  const auto kernel = named<cl_kernel>(Kernel);
  const auto user_event = named<cl_event>(UserEvent);
  const cl_properties flags[] = {CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  const size_t size[3] = {4, 1, 1};
  const cl_sync_point_khr after = 1;
  cl_sync_point_khr point = 0;
  cl_mutable_command_khr command = nullptr;
  cl_event event = nullptr;
  size_t got = 0, room[16] = {};
  wire::Launch arguments = launch();
  arguments.dimensions = 0;
  wire::Update update;
  update.reply = 4;
  update.command_buffer = Commands;
  update.commands.resize(1);
  update.commands[0].command = Unused;
  update.commands[0].args = arguments.args;
  return {
      call<FnId::clCreateCommandBufferKHR>(Unused, 0, 1u, &queue, flags, &code), framed(arguments),
      call<FnId::clCommandNDRangeKernelKHR>(Unused, 0, commands, nullptr, nullptr, kernel, 1u, nullptr, size, nullptr,
                                            0u, nullptr, &point, &command),
      call<FnId::clCommandNDRangeKernelKHR>(0, 0, commands, queue, nullptr, kernel, 3u, nullptr, size, size, 1u, &after,
                                            nullptr, nullptr),
      call<FnId::clCommandBarrierWithWaitListKHR>(0, 0, commands, nullptr, 1u, &after, &point, nullptr),
      call<FnId::clCommandCopyBufferKHR>(0, 0, commands, nullptr, named<cl_mem>(Buffer), named<cl_mem>(Buffer), 0, 512,
                                         64, 0u, nullptr, &point, nullptr),
      call<FnId::clFinalizeCommandBufferKHR>(0, 0, commands),
      call<FnId::clEnqueueCommandBufferKHR>(0, Unused, 0u, nullptr, commands, 1u, &user_event, &event),
      call<FnId::clEnqueueCommandBufferKHR>(0, 0, 1u, const_cast<cl_command_queue*>(&queue), commands, 0u, nullptr,
                                            nullptr),
      call<FnId::clGetCommandBufferInfoKHR>(0, 0, commands, CL_COMMAND_BUFFER_STATE_KHR, sizeof room, room, &got),
      framed(update), call<FnId::clReleaseCommandBufferKHR>(0, 0, commands)};
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
  using wire::DataPath;
  wire::Finish all;
  all.reply = 3;
  wire::Subscribe subscribe;
  subscribe.event = Unused;
  wire::Move move;
  move.from = move.to = Buffer;
  move.part.region = {600, 1, 1};
  move.event = Unused;
  move.waits = {UserEvent};
  std::vector<Bytes> list = beginning();
  const Bytes more[] = {
      framed(launch()), framed(build()), framed(all), framed(subscribe), framed(move), framed(wire::Ping()),
      transfer<wire::Write>(DataPath::Inline, Shape::Range, 16),
      transfer<wire::Read>(DataPath::Inline, Shape::Range, 16),
      transfer<wire::Write>(DataPath::Ring, Shape::Range, 16),
      transfer<wire::Read>(DataPath::Ring, Shape::Range, 16),
      transfer<wire::Write>(DataPath::Stream, Shape::Range, 600),
      transfer<wire::Read>(DataPath::Stream, Shape::Box, 600),
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
  const std::vector<Bytes> svm = svm_frames();
  list.insert(list.end(), svm.begin(), svm.end());
  const std::vector<Bytes> commands = command_buffer_frames();
  list.insert(list.end(), commands.begin(), commands.end());
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
