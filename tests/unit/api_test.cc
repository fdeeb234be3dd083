// Every OpenCL function: random arguments -> encode -> decode, and -> invoke on the fake; hostile
// bytes; printing.
#include <CL/cl_ext.h>
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/fake_cl/fake_functions.h"
#include "tests/fake_cl/sample_call.h"
#include "traces/api/decode.h"
#include "traces/api/encode.h"
#include "traces/api/invoke.h"
#include "traces/api/prepared_call.h"
#include "traces/api/print.h"

using namespace gt;       // NOLINT
using namespace gt::api;  // NOLINT

namespace {

constexpr uint64_t Rounds = 24;

// Where a call can be prepared, it is the same call each time.
void check_prepared(FnId fn, const fake::SampleCall& call) {
  const auto prepared = PreparedCall::prepare(fn, call.inputs, fake::function(fn), nullptr);
  for (int times = 0; prepared && times < 3; ++times) {
    const int32_t answer = prepared->make();
    CHECK(fake::take_log() == call.log);
    VectorWriter outputs;
    prepared->encode_outputs(answer, outputs);
    CHECK(outputs.view() == call.outputs);
  }
}

void check_round_trip(FnId fn, uint64_t seed) {
  INFO("function " << function_name(number(fn)) << ", seed " << seed);
  const fake::SampleCall call = fake::sample_call(fn, seed, seed % 5 != 0);
  CHECK(call.writers_agree);
  CHECK(call.recorded.size() <= call.inputs.size());
  std::vector<DecodedArg> decoded;
  REQUIRE(decode_inputs(fn, call.inputs, decoded));
  REQUIRE(decode_inputs(fn, call.recorded, decoded));
  std::set<uint16_t> params;
  for (const DecodedArg& arg : decoded) params.insert(arg.param);
  CHECK(params.size() == param_count(number(fn)));  // each parameter is named
  REQUIRE(decode_outputs(fn, call.outputs, decoded));

  InvokeContext context;
  VectorWriter outputs;
  REQUIRE(invoke(fn, call.inputs, fake::function(fn), context, outputs) == Invoked::Done);
  CHECK(fake::take_log() == call.log);
  CHECK(outputs.view() == call.outputs);
  check_prepared(fn, call);
}

// Damaged bytes are refused or are some other call; nothing crashes (the sanitizers watch).
void check_damage(FnId fn, const Bytes& inputs, std::mt19937_64& random) {
  INFO("function " << function_name(number(fn)));
  std::vector<DecodedArg> decoded;
  for (size_t n = 0; n < inputs.size(); n += 4) {
    InvokeContext context;
    VectorWriter outputs;
    CHECK_FALSE(decode_inputs(fn, ByteView(inputs).first(n), decoded));
    CHECK(invoke(fn, ByteView(inputs).first(n), fake::function(fn), context, outputs) !=
          Invoked::Done);
  }
  for (int i = 0; i < 12 && !inputs.empty(); ++i) {
    Bytes damaged = inputs;
    for (uint64_t hits = 1 + random() % 3; hits > 0; --hits)
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random() % 4 ? random() : 0xff);
    (void)decode_inputs(fn, damaged, decoded);
    (void)decode_outputs(fn, damaged, decoded);
    InvokeContext context;
    context.arena = Arena(1 << 20);
    VectorWriter outputs;
    (void)invoke(fn, damaged, fake::function(fn), context, outputs);
    fake::take_log();
  }
}

constexpr FnId every_function[] = {
#define GT_FN_ID(name, id) FnId::name,
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
};

}  // namespace

TEST_CASE("every function survives encode, decode and invoke") {
  for (const FnId fn : every_function)
    for (uint64_t seed = 1; seed <= Rounds; ++seed) check_round_trip(fn, seed);
}

TEST_CASE("damaged calls are refused or harmless") {
  std::mt19937_64 random(7);
  for (const FnId fn : every_function)
    for (uint64_t seed = 1; seed <= 3; ++seed)
      check_damage(fn, fake::sample_call(fn, seed, true).inputs, random);
}

TEST_CASE("reflection") {
  CHECK(find_function("clEnqueueWriteBuffer") == number(FnId::clEnqueueWriteBuffer));
  CHECK(find_function("clNoSuchThing") == 0);
  CHECK(function_name(0) == std::string("?"));
  CHECK(function_name(60000) == std::string("?"));
  CHECK(function_name(static_cast<uint16_t>(AllocFn::Malloc)) == std::string("malloc"));
  CHECK(function_name(static_cast<uint16_t>(AllocFn::Munmap)) == std::string("munmap"));
  const uint16_t write = number(FnId::clEnqueueWriteBuffer),
                 read = number(FnId::clEnqueueReadBuffer);
  CHECK(attributes(write).blocking == 2);
  CHECK(attributes(write).size == 4);
  CHECK(attributes(write).transfer == Transfer::HostToDevice);
  CHECK(param_info(write, 1).effect == Effect::UseDef);
  CHECK(param_info(write, 5).effect == Effect::Use);
  CHECK(param_info(read, 1).effect == Effect::Use);
  CHECK(param_info(read, 5).effect == Effect::UseDef);
  CHECK(param_name(write, 5) == std::string("ptr"));
  CHECK(attributes(number(FnId::clReleaseMemObject)).releases == ObjectKind::Buffer);
  CHECK(attributes(number(FnId::clRetainEvent)).retains == ObjectKind::Event);
  CHECK(attributes(number(FnId::clCreateImage)).creates == ObjectKind::Image);
  CHECK(attributes(number(FnId::clEnqueueNDRangeKernel)).launch);
  CHECK(attributes(number(FnId::clSVMAllocARM)).extension);
  CHECK(is_error_code(write, DecodedReturn));
  CHECK(is_error_code(number(FnId::clCreateBuffer), 4));
  CHECK_FALSE(is_error_code(number(FnId::clCreateBuffer), DecodedReturn));
}

TEST_CASE("every pointer parameter has a role that follows it, or is opaque by name") {
  int opaque = 0;
#define GT_BEGIN(...)
#define GT_PARAM(type, name, group, ...)                                                     \
  {                                                                                          \
    using namespace role;                                                                    \
    constexpr bool number = std::is_same_v<__VA_ARGS__, role::Val>;                          \
    static_assert(!std::is_pointer_v<type> || !number, #name " is a pointer, not a number"); \
    opaque += std::is_same_v<__VA_ARGS__, role::Opaque>;                                     \
  }
#define GT_END(...)
#include "traces/api/gen/api_table.inc"
#undef GT_BEGIN
#undef GT_PARAM
#undef GT_END
  CHECK(opaque == 8);  // listed in annotations.txt under "No meaning outside the process"
}

TEST_CASE("the table declares functions as the headers do") {
  static_assert(std::is_same_v<FnPointer<FnId::clEnqueueWaitSemaphoresKHR>, clEnqueueWaitSemaphoresKHR_fn>);
  static_assert(std::is_same_v<FnPointer<FnId::clEnqueueSignalSemaphoresKHR>, clEnqueueSignalSemaphoresKHR_fn>);
  static_assert(std::is_same_v<ParamType<FnId::clRemapCommandBufferKHR, 5>, _cl_mutable_command_khr* const*>);
}

TEST_CASE("pointers that a kernel reaches are recorded as memory") {
  const void* const pointers[] = {reinterpret_cast<const void*>(0x1000), reinterpret_cast<const void*>(0x2000)};
  const auto kernel = reinterpret_cast<cl_kernel>(0x3000);
  for (const cl_kernel_exec_info name : {cl_kernel_exec_info{CL_KERNEL_EXEC_INFO_SVM_PTRS},
                                         cl_kernel_exec_info{CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL}}) {
    VectorWriter writer;
    encode_inputs<FnId::clSetKernelExecInfo, Contents::None>(writer, kernel, name, sizeof pointers,
                                                             static_cast<const void*>(pointers));
    std::vector<DecodedArg> args;
    REQUIRE(decode_inputs(FnId::clSetKernelExecInfo, writer.view(), args));
    REQUIRE(args.size() == 5);
    CHECK((args[3].tag == Tag::HostPointer && args[3].kind == ObjectKind::Svm && args[3].value == 0x1000));
    CHECK((args[4].tag == Tag::HostPointer && args[4].kind == ObjectKind::Svm && args[4].value == 0x2000));
  }
}

TEST_CASE("layers of an array of lines lie a slice pitch apart") {
  const size_t origin[3] = {0, 0, 0}, region[3] = {21, 5, 1};
  const size_t row = 0, slice = 128;
  const auto extent = [&] {
    return extent_of<FnId::clEnqueueMapImage>(
        std::tuple<cl_command_queue, cl_mem, cl_bool, cl_map_flags, const size_t*, const size_t*, const size_t*,
                   const size_t*>(nullptr, nullptr, CL_TRUE, CL_MAP_READ, origin, region, &row, &slice));
  };
  const auto read = [&] {
    return extent_of<FnId::clEnqueueReadImage>(
        std::tuple<cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, size_t, size_t>(
            nullptr, nullptr, CL_TRUE, origin, region, 0, 128));
  };
  image_elements = [](cl_mem) { return ImageElements{4, true}; };
  CHECK(extent() == 4 * 128 + 21 * 4);
  CHECK(read() == 4 * 128 + 21 * 4);
  image_elements = [](cl_mem) { return ImageElements{4, false}; };
  CHECK(extent() == 5 * 21 * 4);
}

TEST_CASE("queries name the handles in their answers") {
  const cl_device_id devices[2] = {reinterpret_cast<cl_device_id>(0x1000),
                                   reinterpret_cast<cl_device_id>(0x2000)};
  size_t size = sizeof devices;
  char room[64] = {};
  std::memcpy(room, devices, sizeof devices);
  VectorWriter w;
  encode_outputs<FnId::clGetContextInfo>(w, cl_int{CL_SUCCESS}, cl_context{},
                                         cl_context_info{CL_CONTEXT_DEVICES}, sizeof room,
                                         static_cast<void*>(room), &size);
  std::vector<DecodedArg> out;
  REQUIRE(decode_outputs(FnId::clGetContextInfo, w.view(), out));
  REQUIRE(out.size() == 4);
  CHECK(out[1].tag == Tag::Handle);
  CHECK(out[1].kind == ObjectKind::Device);
  CHECK(out[2].value == 0x2000);
}

TEST_CASE("property lists with lists inside") {
  const cl_device_partition_property list[] = {CL_DEVICE_PARTITION_BY_COUNTS, 3, 1, 0, 0};
  CHECK(property_words(list) == 4);
  // Nothing is read behind the end of the counts.
  const cl_device_partition_property bare[] = {CL_DEVICE_PARTITION_BY_COUNTS, 3, 1, 0};
  CHECK(property_words(bare, [&](const auto* word) { return word < std::end(bare); }) == 4);
  const cl_context_properties context[] = {CL_CONTEXT_PLATFORM, 0x1234, 0};
  VectorWriter w;
  encode_inputs<FnId::clCreateContext>(w, context, cl_uint{0},
                                       static_cast<const cl_device_id*>(nullptr),
                                       ParamType<FnId::clCreateContext, 3>{},
                                       static_cast<void*>(nullptr), static_cast<cl_int*>(nullptr));
  std::vector<DecodedArg> out;
  REQUIRE(decode_inputs(FnId::clCreateContext, w.view(), out));
  CHECK(out[0].value == CL_CONTEXT_PLATFORM);
  CHECK(out[1].tag == Tag::Handle);
  CHECK(out[1].kind == ObjectKind::Platform);
}

TEST_CASE("handles in a list inside a property list are handles") {
  constexpr uint64_t DeviceList = 0x2051;  // CL_DEVICE_HANDLE_LIST_KHR
  const cl_mem_properties list[] = {DeviceList, 0x1000, 0x2000, 0, 0x7777, 5, 0};
  CHECK(property_words(list) == 6);
  VectorWriter w;
  encode_inputs<FnId::clCreateBufferWithProperties>(w, cl_context{}, list, cl_mem_flags{0}, size_t{8},
                                                    static_cast<void*>(nullptr), static_cast<cl_int*>(nullptr));
  std::vector<DecodedArg> out;
  REQUIRE(decode_inputs(FnId::clCreateBufferWithProperties, w.view(), out));
  const Tag expected[] = {Tag::Int, Tag::Handle, Tag::Handle, Tag::Int, Tag::Int, Tag::Int};
  for (size_t i = 0; i < 6; ++i) CHECK(out[1 + i].tag == expected[i]);
  CHECK(out[2].kind == ObjectKind::Device);
  const uint64_t endless[] = {0x7777, 1, 0x7777};
  size_t asked = 0;
  CHECK(property_words(endless, [&](const void*) { return ++asked <= 3; }) == MaxPropertyWords);
}

TEST_CASE("pointers that cannot be followed are recorded as addresses") {
  struct Blind : VectorWriter {
    bool readable(const void*, size_t) const { return false; }
    bool text_length(const char*, size_t&) const { return false; }
  } w;
  const size_t* nowhere = reinterpret_cast<const size_t*>(0x1230);
  encode_inputs<FnId::clEnqueueNDRangeKernel>(w, cl_command_queue{}, cl_kernel{}, cl_uint{2}, nowhere, nowhere,
                                              static_cast<const size_t*>(nullptr), cl_uint{1u << 30},
                                              reinterpret_cast<const cl_event*>(nowhere),
                                              static_cast<cl_event*>(nullptr));
  std::vector<DecodedArg> out;
  REQUIRE(decode_inputs(FnId::clEnqueueNDRangeKernel, w.view(), out));
  REQUIRE(out.size() == 9);
  CHECK(out[3].tag == Tag::Raw);
  CHECK(out[3].value == 0x1230);
  CHECK(out[5].tag == Tag::Null);
  CHECK(out[6].value == 1u << 30);
  CHECK(out[7].tag == Tag::Raw);
  InvokeContext context;
  VectorWriter outputs;
  CHECK(invoke(FnId::clEnqueueNDRangeKernel, w.view(), fake::function(FnId::clEnqueueNDRangeKernel), context,
               outputs) == Invoked::Damaged);
}

TEST_CASE("a prepared call has other numbers where they were encoded") {
  const auto kernel = reinterpret_cast<cl_kernel>(uintptr_t{0x10});
  VectorWriter w;
  const uint32_t five = 5;
  encode_inputs<FnId::clSetKernelArg, Contents::Full>(w, kernel, cl_uint{1}, sizeof five,
                                                      static_cast<const void*>(&five));
  const auto log_of = [&](uint32_t value) {
    VectorWriter other;
    encode_inputs<FnId::clSetKernelArg, Contents::Full>(other, kernel, cl_uint{1}, sizeof value,
                                                        static_cast<const void*>(&value));
    InvokeContext context;
    VectorWriter outputs;
    CHECK(invoke(FnId::clSetKernelArg, other.view(), fake::function(FnId::clSetKernelArg), context, outputs) ==
          Invoked::Done);
    return fake::take_log();
  };
  const auto prepared =
      PreparedCall::prepare(FnId::clSetKernelArg, w.view(), fake::function(FnId::clSetKernelArg), nullptr);
  REQUIRE(prepared);
  const size_t at = w.view().size() - 8;  // the value is padded to a word
  CHECK(prepared->place(0, 8) == nullptr);
  CHECK(prepared->place(at, 8) == nullptr);  // longer than it is
  void* const place = prepared->place(at, sizeof five);
  REQUIRE(place);
  for (const uint32_t value : {5u, 6u, 0xffffffffu}) {
    std::memcpy(place, &value, sizeof value);
    CHECK(prepared->make() == CL_SUCCESS);
    const std::string made = fake::take_log();
    CHECK(made == log_of(value));
  }
}

TEST_CASE("external byte strings come from the context") {
  VectorWriter w;
  w.word(0x10);  // program
  w.word(100 | External);
  w.word(1);  // errcode_ret is there
  std::deque<Bytes> blobs = {Bytes(100, 'k')};
  DecodeContext context{&blobs};
  std::vector<DecodedArg> out;
  REQUIRE(decode_inputs(FnId::clCreateKernel, w.view(), context, out));
  CHECK(out[1].length == 100);
  CHECK(out[1].data.size() == 100);
  CHECK_FALSE(decode_inputs(FnId::clCreateKernel, w.view(), out));
}

TEST_CASE("the answer's size is known though the program does not ask") {
  char room[64] = "PoCL";
  size_t* none = nullptr;
  const auto probe_for = [&](void* out) {
    return SizeProbe<FnId::clGetDeviceInfo>(cl_device_id{}, cl_device_info{CL_DEVICE_NAME}, sizeof room, out, none);
  };
  CHECK(probe_for(nullptr).pass<4>(none) == nullptr);  // who asks for nothing may be refused
  auto probe = probe_for(room);
  size_t* passed = probe.pass<4>(none);
  REQUIRE(passed != nullptr);
  *passed = 5;
  VectorWriter w;
  encode_outputs<FnId::clGetDeviceInfo>(w, cl_int{CL_SUCCESS}, cl_device_id{},
                                        cl_device_info{CL_DEVICE_NAME}, sizeof room,
                                        static_cast<void*>(room), passed);
  std::vector<DecodedArg> out;
  REQUIRE(decode_outputs(FnId::clGetDeviceInfo, w.view(), out));
  CHECK(out[1].length == 5);
  CHECK(probe.pass<0>(reinterpret_cast<cl_device_id>(8)) == reinterpret_cast<cl_device_id>(8));
}

TEST_CASE("printing") {
  CHECK(error_name(-5) == "CL_OUT_OF_RESOURCES");
  CHECK(error_name(0) == "CL_SUCCESS");
  CHECK(error_name(-30) == "CL_INVALID_VALUE");
  CHECK(error_name(-1001) == "CL_PLATFORM_NOT_FOUND_KHR");
  CHECK(error_name(-77777) == "-77777");
  CHECK(value_name("cl_bool", 1) == "CL_TRUE");
  CHECK(value_name("cl_mem_flags", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR) ==
        "CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR");
  CHECK(value_name("cl_mem_flags", CL_MEM_HOST_NO_ACCESS) == "CL_MEM_HOST_NO_ACCESS");
  CHECK(value_name("cl_device_info", CL_DEVICE_NAME) == "CL_DEVICE_NAME");
  CHECK(value_name("cl_device_type", CL_DEVICE_TYPE_GPU) == "CL_DEVICE_TYPE_GPU");
  CHECK(value_name("cl_event_info", CL_EVENT_COMMAND_TYPE) == "CL_EVENT_COMMAND_TYPE");
  CHECK(value_name("cl_profiling_info", CL_PROFILING_COMMAND_END) == "CL_PROFILING_COMMAND_END");
  CHECK(value_name("no_such_type", 1).empty());
}
