// An executor on a real driver (PoCL): every message, as a client sends it over a link inside the process.
#include "tests/unit/executor_client.h"

namespace gt::exec {
namespace {

using api::FnId;

constexpr const char* Source = R"(
kernel void add(global int* a, int n) { a[get_global_id(0)] += n; }
kernel void fill(global int* a, local int* scratch, int n) {
  scratch[get_local_id(0)] = n;
  a[get_global_id(0)] = scratch[get_local_id(0)];
}
)";

std::vector<int> ints(const Bytes& bytes) {
  std::vector<int> v(bytes.size() / sizeof(int));
  std::memcpy(v.data(), bytes.data(), bytes.size());
  return v;
}
Bytes bytes_of(const std::vector<int>& v) {
  const auto* p = reinterpret_cast<const uint8_t*>(v.data());
  return {p, p + v.size() * sizeof(int)};
}

TEST_CASE("device discovery tells of platforms and devices, without what cannot go over a link") {
  Client client(real_driver());
  const wire::Surveyed all = client.survey();
  REQUIRE(!all.platforms.empty());
  REQUIRE(!all.devices.empty());
  CHECK(all.platforms[0].id >= wire::FirstSurveyed);
  CHECK(all.devices[0].platform == all.platforms[0].id);
  std::map<uint32_t, Bytes> infos;
  for (const wire::InfoValue& info : all.devices[0].infos) infos[info.name] = info.value;
  CHECK(infos[CL_DEVICE_NAME].size() > 1);
  CHECK(infos[CL_DEVICE_SVM_CAPABILITIES] ==
        Bytes{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER, 0, 0, 0, 0, 0, 0, 0});
  CHECK(infos[CL_DEVICE_HOST_UNIFIED_MEMORY] == Bytes(4, 0));
  CHECK(as_text(infos[CL_DEVICE_EXTENSIONS]).find("cl_khr_byte_addressable_store") != std::string_view::npos);
  CHECK(as_text(infos[CL_DEVICE_EXTENSIONS]).find("external_memory") == std::string_view::npos);
  CHECK_FALSE(infos.contains(CL_DEVICE_PLATFORM));
  CHECK(client.survey().devices[0].id == all.devices[0].id);
}

TEST_CASE("buffers are written and read inline") {
  Ready client(real_driver());
  const ObjectId buffer = client.new_buffer(64);
  client.write(client.queue, buffer, 8, as_bytes("hello"));
  CHECK(as_text(client.read(client.queue, buffer, 8, 5)) == "hello");
  CHECK(client.finish(client.queue) == CL_SUCCESS);
  CHECK(client.finish(0) == CL_SUCCESS);
  CHECK(client.failures.empty());
}

TEST_CASE("a program is built, its kernels described and launched with arguments that changed") {
  Ready client(real_driver());
  wire::Built built;
  const ObjectId program = client.new_program(Source, &built);
  REQUIRE(built.code == CL_SUCCESS);
  REQUIRE(built.devices.size() == 1);
  CHECK(built.devices[0].device == client.device);
  CHECK(built.devices[0].status == CL_BUILD_SUCCESS);
  REQUIRE(built.kernels.size() == 2);
  const wire::KernelInfo& fill = built.kernels[built.kernels[0].name == "fill" ? 0 : 1];
  REQUIRE(fill.args.size() == 3);
  CHECK(fill.told == 1);
  CHECK(fill.args[0].kind == wire::ArgInfo::Kind::Global);
  CHECK(fill.args[1].kind == wire::ArgInfo::Kind::Local);
  CHECK(fill.args[2].kind == wire::ArgInfo::Kind::Value);
  CHECK(fill.args[2].name == "n");

  const ObjectId buffer = client.new_buffer(16), add = client.new_kernel(program, "add");
  client.write(client.queue, buffer, 0, bytes_of({1, 2, 3, 4}));
  const int five = 5, seven = 7;
  client.launch(add, 4, {object_arg(0, buffer), value_arg(1, five)});
  client.launch(add, 4);
  client.launch(add, 4, {value_arg(1, seven)});
  CHECK(ints(client.read(client.queue, buffer, 0, 16)) == std::vector<int>{18, 19, 20, 21});
  CHECK(client.failures.empty());
}

// The bytes of docs/WIRE_FORMAT.md.
TEST_CASE("the example of the format document") {
  Client client(real_driver());
  client.survey();
  const Bytes call = {1, 0x0b, 0,    1, 0, 0, 0,    1,    0,    0,    0,    0,    0,    0,    0, 0, 0,    0, 0, 0, 0,
                      0, 0,    0x38, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0,    0, 0, 0, 0,
                      0, 1,    0,    0, 0, 0, 0,    0,    0,    1,    0,    0,    0,    0,    0, 0, 0x80, 0, 0, 0, 0,
                      0, 0,    0,    0, 0, 0, 0,    0,    0,    0,    0,    0,    1,    0,    0, 0, 0,    0, 0, 0};
  const ByteView parts[] = {call};
  REQUIRE(client.link().send(parts).ok());
  const Bytes outputs = client.wait_for(client.replies, 1);
  CHECK(outputs == Bytes{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace gt::exec
