// Programs of an executor: builds, their logs and files, compiling and linking, binaries.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/executor_client.h"
#include "transport/executor/calls/include_files.h"

namespace gt::exec {
namespace {

using api::FnId;

struct Building : Ready {
  explicit Building(Options options = {}) : Ready(real_driver(), {}, std::move(options)) {}

  ObjectId from_source(const std::string& source) {
    const ObjectId id = new_id();
    const char* text = source.c_str();
    cl_int code = 0;
    call<FnId::clCreateProgramWithSource>(id, 0, named<cl_context>(context), 1, &text, nullptr, &code);
    return id;
  }
  wire::Built step(wire::Build::Step step, ObjectId program, wire::Ids inputs = {},
                   std::vector<std::string> names = {}) {
    wire::Build m;
    m.step = step;
    m.program = program;
    m.context = context;
    m.inputs = std::move(inputs);
    m.names = std::move(names);
    if (step == wire::Build::Step::Link) m.devices = {device};
    return build(m);
  }
  // What a kernel "answer" writes.
  int answer(ObjectId program) {
    const ObjectId buffer = new_buffer(4);
    launch(new_kernel(program, "answer"), 1, {object_arg(0, buffer)});
    const Bytes bytes = read(queue, buffer, 0, 4);
    int value = 0;
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

TEST_CASE("a build that fails has a log") {
  Building client;
  wire::Built built;
  client.new_program("kernel void broken( { }", &built);
  CHECK(built.code == CL_BUILD_PROGRAM_FAILURE);
  REQUIRE(built.devices.size() == 1);
  CHECK(built.devices[0].status == CL_BUILD_ERROR);
  CHECK(built.devices[0].log.size() > 10);
  CHECK(built.kernels.empty());
}

TEST_CASE("include files and options travel with the build") {
  Building client;
  wire::Build m;
  m.program = client.from_source("#include \"sub/value.h\"\nkernel void answer(global int* a) { *a = VALUE + MORE; }");
  m.options = "-I /nowhere -DMORE=2 -I\"also nowhere\"";
  m.files = {{"sub/value.h", "#define VALUE 40\n"}};
  const wire::Built built = client.build(m);
  CHECK(built.code == CL_SUCCESS);
  CHECK(client.executor->counters().builds == 1);
  CHECK(client.executor->counters().build_ns > 0);
  CHECK(client.answer(m.program) == 42);
}

TEST_CASE("include files stay in their folder, which goes") {
  std::string folder;
  {
    const auto files = IncludeFiles::write({{"a/b.h", "text"}}, "source", false);
    REQUIRE(files);
    folder = files->folder();
    std::string text;
    std::ifstream(folder + "/a/b.h") >> text;
    CHECK(text == "text");
  }
  CHECK_FALSE(std::ifstream(folder + "/a/b.h").good());
  for (const char* path : {"../x.h", "/tmp/x.h", "a/../../x.h", "", "a/"})
    CHECK_FALSE(IncludeFiles::write({{path, ""}}, "source", false));
  CHECK(rewrite_options("-I a -Ib -DX=\"1 2\" -I \"c d\" -cl-mad-enable", "/f") == "-I /f -DX=\"1 2\" -cl-mad-enable");
  CHECK(rewrite_options("  -w ", "") == "-w");
}

// In sources: another process may run this very test now.
std::string own_comment() { return "// " + std::to_string(::getpid()) + "\n"; }

TEST_CASE("the folder of include files is the same for the same build, and another one for another") {
  const auto folder_of = [](std::string text, std::string_view sources, std::string path = "a.h") {
    return IncludeFiles::write({{std::move(path), own_comment() + text}}, sources, false)->folder();
  };
  const std::string folder = folder_of("text", "source");
  CHECK(folder_of("text", "source") == folder);
  CHECK(folder_of("texts", "source") != folder);
  CHECK(folder_of("text", "sources") != folder);
  CHECK(folder_of("text", "source", "b.h") != folder);
  CHECK(folder_of("text", "sourcea", ".h") != folder_of("text", "source", "a.h"));
  const auto first = IncludeFiles::write({{"a.h", own_comment() + "text"}}, "source", false);
  const auto second = IncludeFiles::write({{"a.h", own_comment() + "text"}}, "source", false);  // at the same time
  CHECK(first->folder() == folder);
  CHECK(second->folder() != folder);
}

TEST_CASE("a folder that was left makes way for who is alone") {
  const std::string sources = own_comment();
  const std::string folder = IncludeFiles::write({{"a.h", "text"}}, sources, true)->folder();
  std::filesystem::create_directories(folder + "/old");
  std::ofstream(folder + "/a.h") << "other";
  const auto files = IncludeFiles::write({{"a.h", "text"}}, sources, true);
  CHECK(files->folder() == folder);
  CHECK_FALSE(std::filesystem::exists(folder + "/old"));
  std::string text;
  std::ifstream(folder + "/a.h") >> text;
  CHECK(text == "text");
}

std::vector<std::string> built_with;
cl_int noting_build(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                    void (*notify)(cl_program, void*), void* data) {
  static const auto real = reinterpret_cast<decltype(&::clBuildProgram)>(real_driver()[FnId::clBuildProgram]);
  built_with.emplace_back(options);
  return real(program, n, devices, options, notify, data);
}

TEST_CASE("options are adapted, as they are, or none") {
  static std::vector<std::string> seen;
  Functions noting = real_driver();
  noting.of[static_cast<size_t>(FnId::clBuildProgram)] = reinterpret_cast<AnyFunction>(
      +[](cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
          void (*notify)(cl_program, void*), void* data) {
        static const auto real = reinterpret_cast<decltype(&::clBuildProgram)>(real_driver()[FnId::clBuildProgram]);
        seen.emplace_back(options ? options : "NULL");
        return real(program, n, devices, options, notify, data);
      });
  Ready client(noting);
  for (const auto how : {wire::Build::Options::Adapted, wire::Build::Options::Exact, wire::Build::Options::None}) {
    wire::Build m;
    m.program = client.new_id();
    const char* text = "kernel void answer(global int* a) { *a = 42; }";
    cl_int code = 0;
    client.call<FnId::clCreateProgramWithSource>(m.program, 0, named<cl_context>(client.context), 1, &text, nullptr,
                                                 &code);
    m.options = " -DA=1  -I/nowhere ";
    m.how = how;
    CHECK(client.build(m).code == CL_SUCCESS);
  }
  CHECK(seen == std::vector<std::string>{"-DA=1 -cl-kernel-arg-info", " -DA=1  -I/nowhere ", "NULL"});
  wire::Build odd;
  odd.how = static_cast<wire::Build::Options>(3);
  CHECK(client.build(odd).code == CL_INVALID_VALUE);
}

TEST_CASE("the driver says what it thinks of an argument's size, of values and where there is none") {
  Building client;
  wire::Built built;
  const ObjectId program =
      client.new_program("kernel void k(float3 v, global int* a, local int* l) { a[0] = (int)v.x; }", &built);
  const ObjectId kernel = client.new_kernel(program, "k");
  const std::vector<uint8_t> zeros(64);
  const auto set = [&](cl_uint index, size_t size, const void* value) {
    const std::vector<api::DecodedArg> told =
        client.ask<FnId::clSetKernelArg>(0, named<cl_kernel>(kernel), index, size, value);
    return static_cast<cl_int>(told.at(0).value);
  };
  CHECK(set(0, 16, zeros.data()) == CL_SUCCESS);
  CHECK(set(0, 12, zeros.data()) == CL_SUCCESS);  // PoCL's way with three components
  CHECK(set(0, 17, zeros.data()) == CL_INVALID_ARG_SIZE);
  CHECK(set(0, 0, zeros.data()) == CL_INVALID_ARG_VALUE);
  CHECK(set(1, 8, zeros.data()) == CL_INVALID_ARG_VALUE);
  CHECK(set(1, 8, nullptr) == CL_SUCCESS);
  CHECK(set(1, 4, nullptr) == CL_INVALID_ARG_SIZE);  // PoCL's way
  CHECK(set(2, 8, nullptr) == CL_SUCCESS);
  CHECK(set(2, 8, zeros.data()) == CL_INVALID_ARG_VALUE);
  CHECK(set(9, 8, zeros.data()) == CL_INVALID_ARG_VALUE);
}

TEST_CASE("two builds of the same program have the same options") {
  Functions noting = real_driver();
  noting.of[static_cast<size_t>(FnId::clBuildProgram)] = reinterpret_cast<AnyFunction>(&noting_build);
  Ready client(noting);
  const std::string source = own_comment() + "#include \"value.h\"\nkernel void answer(global int* a) { *a = VALUE; }";
  for (const char* value : {"1", "1", "2"}) {
    const char* text = source.c_str();
    wire::Build m;
    m.program = client.new_id();
    cl_int code = 0;
    client.call<FnId::clCreateProgramWithSource>(m.program, 0, named<cl_context>(client.context), 1, &text, nullptr,
                                                 &code);
    m.files = {{"value.h", std::string("#define VALUE ") + value}};
    CHECK(client.build(m).code == CL_SUCCESS);
  }
  REQUIRE(built_with.size() == 3);
  CHECK(built_with[0].find("-I ") != std::string::npos);
  CHECK(built_with[1] == built_with[0]);
  CHECK(built_with[2] != built_with[0]);
}

TEST_CASE("programs are compiled with headers, and linked") {
  Building client;
  const ObjectId header = client.from_source("#define VALUE 7\n");
  const ObjectId part = client.from_source("#include \"value.h\"\nint value(void) { return VALUE; }");
  const ObjectId whole = client.from_source("int value(void);\nkernel void answer(global int* a) { *a = value(); }");
  CHECK(client.step(wire::Build::Step::Compile, part, {header}, {"value.h"}).code == CL_SUCCESS);
  CHECK(client.step(wire::Build::Step::Compile, whole).code == CL_SUCCESS);
  const ObjectId linked = client.new_id();
  const wire::Built built = client.step(wire::Build::Step::Link, linked, {part, whole});
  REQUIRE(built.code == CL_SUCCESS);
  REQUIRE(built.kernels.size() == 1);
  CHECK(built.kernels[0].name == "answer");
  CHECK(client.answer(linked) == 7);
  CHECK(client.step(wire::Build::Step::Link, linked, {part}).code == CL_INVALID_VALUE);
  CHECK(client.step(wire::Build::Step::Compile, part, {header}).code == CL_INVALID_VALUE);
  CHECK(client.step(wire::Build::Step::Build, client.new_id()).code == CL_INVALID_PROGRAM);
}

TEST_CASE("binaries come as they are, and make programs again") {
  Building client;
  const ObjectId program = client.new_program("kernel void answer(global int* a) { *a = 5; }");
  size_t size = 0, told = 0;
  const auto sizes = client.ask<FnId::clGetProgramInfo>(0, named<cl_program>(program),
                                                        cl_program_info{CL_PROGRAM_BINARY_SIZES}, sizeof size, &size,
                                                        &told);
  REQUIRE(sizes.size() >= 2);
  REQUIRE(sizes[1].data.size() == sizeof size);
  std::memcpy(&size, sizes[1].data.data(), sizeof size);
  void* pointer = nullptr;
  const auto outputs = client.ask<FnId::clGetProgramInfo>(0, named<cl_program>(program),
                                                          cl_program_info{CL_PROGRAM_BINARIES}, sizeof pointer,
                                                          &pointer, &told);
  REQUIRE(outputs.size() == 3);
  const Bytes binary(outputs[1].data.begin(), outputs[1].data.end());
  REQUIRE(binary.size() == size);
  const ObjectId again = client.new_id();
  const auto device = named<cl_device_id>(client.device);
  const unsigned char* bytes = binary.data();
  cl_int status = 0, code = 0;
  client.call<FnId::clCreateProgramWithBinary>(again, 0, named<cl_context>(client.context), 1, &device, &size, &bytes,
                                               &status, &code);
  CHECK(client.step(wire::Build::Step::Build, again).code == CL_SUCCESS);
  CHECK(client.answer(again) == 5);
}

TEST_CASE("kernels of a program are made with consecutive names") {
  Building client;
  const ObjectId program = client.new_program("kernel void a(global int* x) { *x = 1; } kernel void b(int y) {}");
  const ObjectId first = client.new_id(2);
  cl_kernel kernels[2];
  cl_uint count = 0;
  client.ask<FnId::clCreateKernelsInProgram>(first, named<cl_program>(program), 2, kernels, &count);
  client.call<FnId::clReleaseKernel>(0, 0, named<cl_kernel>(first));
  client.call<FnId::clReleaseKernel>(0, 0, named<cl_kernel>(first + 1));
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.failures.empty());
}

TEST_CASE("where the driver does not tell of arguments, they are unknown, and may be anything") {
  Functions silent = real_driver();
  silent.of[static_cast<size_t>(FnId::clGetKernelArgInfo)] = reinterpret_cast<AnyFunction>(
      +[](cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void*, size_t*) -> cl_int {
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
      });
  Ready client(silent);
  wire::Built built;
  const ObjectId program =
      client.new_program("kernel void answer(global int* a, int b) { *a = b; } kernel void none() {}", &built);
  REQUIRE(built.kernels.size() == 2);
  for (const wire::KernelInfo& kernel : built.kernels) {
    CHECK(kernel.told == (kernel.name == "none"));
    CHECK(kernel.args.size() == (kernel.name == "none" ? 0 : 2));
    for (const wire::ArgInfo& arg : kernel.args) CHECK(arg.kind == wire::ArgInfo::Kind::Unknown);
  }
  const ObjectId buffer = client.new_buffer(4);
  client.launch(client.new_kernel(program, "answer"), 1, {object_arg(0, buffer), value_arg(1, 42)});
  const Bytes bytes = client.read(client.queue, buffer, 0, 4);
  CHECK(bytes == Bytes{42, 0, 0, 0});
  CHECK(client.failures.empty());
}

TEST_CASE("a value in the place of a pointer does not reach the driver") {
  Building client;
  const ObjectId kernel = client.new_kernel(client.new_program("kernel void a(global int* x) { *x = 1; }"), "a");
  const uint64_t address = 0xdead;
  client.launch(kernel, 1, {value_arg(0, address)});
  CHECK(client.failure().code == CL_INVALID_ARG_VALUE);
}

cl_int slow_build(cl_program program, cl_uint n, const cl_device_id* devices, const char* options,
                  void (*notify)(cl_program, void*), void* data) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  static const auto real = reinterpret_cast<decltype(&::clBuildProgram)>(real_driver()[FnId::clBuildProgram]);
  return real(program, n, devices, options, notify, data);
}

TEST_CASE("a build that takes too long is answered all the same") {
  Functions slow = real_driver();
  slow.of[static_cast<size_t>(FnId::clBuildProgram)] = reinterpret_cast<AnyFunction>(&slow_build);
  Limits limits;
  limits.build_seconds = 1;
  Ready client(slow, limits);
  wire::Built built;
  client.new_program("kernel void a(int x) {}", &built);
  CHECK(built.code == CL_BUILD_PROGRAM_FAILURE);
  REQUIRE(built.devices.size() == 1);
  CHECK(built.devices[0].log.find("longer") != std::string::npos);
}

}  // namespace
}  // namespace gt::exec
