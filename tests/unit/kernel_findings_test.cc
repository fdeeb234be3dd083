// Rules that look at what kernels do with their arguments, loops that wait for a few bytes, and advice by the kind of
// device.
#include "analyzer/calls/host_devices.h"
#include "tests/unit/findings_check.h"

using namespace gt;
using namespace gt::testing;

namespace {

constexpr int64_t ReadWrite = 1, WriteOnly = 2, ReadOnly = 4;
constexpr const char* Adds = "kernel void k(global int* in, global int* out) { out[0] += in[0]; }";

// A kernel of `source` that is launched once, with buffers of these flags.
RuleTrace launched(const char* source, std::vector<int64_t> flags, int64_t bytes = MiB) {
  RuleTrace p;
  std::vector<std::pair<Object, Effect>> buffers;
  for (const int64_t f : flags) {
    p.at_place(0x5000 + static_cast<int>(buffers.size()));
    buffers.emplace_back(p.buffer(bytes, f), Effect::UseDef);
  }
  p.launch(p.kernel(source), buffers);
  return p;
}

std::vector<std::string> places(const Trace& trace, const std::string& rule) {
  std::vector<std::string> out;
  for (const Finding& f : found_in(trace).findings) {
    CHECK(f.rule == rule);
    CHECK_FALSE(f.saving_s);
    out.push_back(f.place);
  }
  return out;
}

struct Loop {
  int times = 2000;
  int64_t bytes = 4;
  uint64_t read_ns = 40'000, kernel_ns = 10'000;
  bool also_finishes = false, launches = true;
};
Trace asking(const Loop& l) {
  Program p;
  for (int i = 0; i < l.times; ++i) {
    if (l.launches) p.launch(p.k, {{p.b, Effect::UseDef}}, l.kernel_ns);
    if (l.also_finishes) p.read(p.b, p.host, MiB, {.device_ns = 1000, .host_ns = l.read_ns});
    p.read(p.b, p.host, l.bytes, {.device_ns = 1000, .host_ns = l.read_ns});
  }
  return p.finish_trace();
}

}  // namespace

// --- access-flags ---

TEST_CASE("access-flags: a kernel reads what is for writing only, or writes what is for reading only") {
  const Trace reads = launched(Adds, {ReadOnly, WriteOnly}).finish_trace();
  const Finding f = only(reads, "access-flags");
  CHECK(f.evidence.find("CL_MEM_WRITE_ONLY") != std::string::npos);
  CHECK(f.evidence.find("argument out") != std::string::npos);
  CHECK(places(launched(Adds, {ReadOnly, ReadOnly}).finish_trace(), "access-flags").size() == 1);
  CHECK(places(launched(Adds, {WriteOnly, ReadOnly}).finish_trace(), "access-flags").size() == 2);
}

TEST_CASE("access-flags: no word where the flags fit, or the kernel is not known exactly") {
  check_none(launched(Adds, {ReadOnly, ReadWrite}).finish_trace());
  check_none(launched(Adds, {ReadWrite, ReadWrite}).finish_trace());
  check_none(launched("kernel void k(global int* in, global int* out) { out[0] = in[0]; }", {ReadOnly, WriteOnly})
                 .finish_trace());
  check_none(launched("this does not compile", {WriteOnly, ReadOnly}).finish_trace());
  check_none(launched("kernel void k(global int* in, global int* out) { out[in[0]] = *(global int*)(ulong)in[1]; }",
                      {ReadOnly, ReadWrite})
                 .finish_trace());
}

TEST_CASE("access-flags: no word about buffers of one place that are made differently") {
  RuleTrace p;
  p.at_place(0x5000);
  const Object one = p.buffer(MiB, WriteOnly), other = p.buffer(MiB, ReadWrite);
  REQUIRE(one.cls == other.cls);
  p.at_place(0x6000);
  p.launch(p.kernel("kernel void k(global int* a) { a[0] += 1; }"), {{other, Effect::UseDef}});
  check_none(p.finish_trace());
}

// --- unused-buffers ---

TEST_CASE("unused-buffers: bound to an argument that no kernel uses") {
  const char* source = "kernel void k(global int* a, global int* spare) { a[0] = 1; }";
  CHECK(places(launched(source, {ReadWrite, ReadWrite}).finish_trace(), "unused-buffers").size() == 1);
  check_none(launched(source, {ReadWrite, ReadWrite}, 4096).finish_trace());  // a placeholder
}

TEST_CASE("unused-buffers: no word where it is used by another kernel, received or copied") {
  const char* source = "kernel void k(global int* a, global int* spare) { a[0] = 1; }";
  for (const int how : {0, 1, 2}) {
    RuleTrace p;
    p.at_place(0x5000);
    const Object a = p.buffer(MiB);
    p.at_place(0x5001);
    const Object spare = p.buffer(MiB);
    const Object k = p.kernel(source);
    p.launch(k, {{a, Effect::UseDef}, {spare, Effect::UseDef}});
    if (how == 0) p.launch(k, {{spare, Effect::UseDef}, {a, Effect::UseDef}});
    if (how == 1) p.read(spare, p.allocate(MiB), 64, {.device_ns = 100, .host_ns = 100});
    if (how == 2) {
      p.call(fn(api::FnId::clEnqueueCopyBuffer),
             {to(0, Effect::Use, p.queue), to(1, Effect::Use, spare), to(2, Effect::UseDef, a), number(ParamReturn, 0)},
             2000, 100, 64, Direction::DeviceToDevice);
    }
    check_none(p.finish_trace());
  }
}

// --- round-trips ---

TEST_CASE("round-trips: a flag is read after each launch") {
  // 2000 times 40 us, of which 11 are the device's; nine of ten
  CHECK(seconds(only(asking({}), "round-trips")) == about(0.9 * 2000 * 29e-6));
}

TEST_CASE("round-trips: no word when the device is busy all the time, something else waits, or much is read") {
  check_none(asking({.read_ns = 1'000'000, .kernel_ns = 999'000}));
  check_none(asking({.also_finishes = true}));
  check_none(asking({.bytes = 4096}));
  check_none(asking({.times = 200}));
  check_none(asking({.launches = false}));
}

// --- idle-waits ---

TEST_CASE("idle-waits: what is only to be unmapped is no reason to wait") {
  Program p;
  for (int i = 0; i < Times; ++i) {
    const Object mapping = p.map(p.b, MiB, 1, 1000);
    p.unmap(p.b, mapping, MiB, false, 100);
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.finish(600'000);
    p.launch(p.k, {{p.b, Effect::UseDef}}, 100'000);
    p.read(p.b, p.host, MiB, {.device_ns = 1000});
  }
  CHECK(seconds(only(p.finish_trace(), "idle-waits")) == about(0.05));
}

// --- Devices ---

TEST_CASE("processors by their names") {
  for (const char* name : {"pthread-Intel(R) Xeon(R)", "cpu-haswell-AMD EPYC", "basic-x", "cpu", "Intel CPU @ 2 GHz",
                           "AMD EPYC", "AMD EPYC 7763 64-Core Processor", "Intel(R) Xeon(R) Platinum 8480+"})
    CHECK_MESSAGE(analyzer::is_processor_name(name), name);
  for (const char* name : {"NVIDIA H200", "gfx90a", "cpuless", "Intel(R) UHD Graphics", "VCPU9000", "Coprocessor", ""})
    CHECK_MESSAGE(!analyzer::is_processor_name(name), name);
}

TEST_CASE("a device is the host's by what the program asked, before its name counts") {
  const int64_t cpu = 2, gpu = 4;
  for (const int64_t type : {cpu, gpu, cpu | gpu}) {
    for (const char* name : {"thing", "pthread-thing"}) {
      TraceBuilder b;
      const auto get = fn(api::FnId::clGetDeviceIDs);
      const ClassId device = b.cls(ObjectKind::Device, get, b.site(1), b.blob(name));
      const ShapeId s = b.shape(
          get, b.site(2), {{1, ArgForm::Int, Effect::None, NoIndex}, {3, ArgForm::Object, Effect::Def, device}});
      b.trace.streams.push_back({0, false, {}, {}});
      b.trace.streams[0].nodes.push_back(TraceBuilder::call(s, {Series(type), Series(0)}));
      DeviceTime d;
      d.device = name;
      d.kernels = 1;
      b.trace.devices.push_back(d);
      const bool named = std::string(name) != "thing";
      const bool expected = type == (cpu | gpu) ? named : type == cpu;
      CHECK(analyzer::devices_share_host_memory(b.trace) == expected);
    }
  }
  CHECK_FALSE(analyzer::devices_share_host_memory(Trace()));
}

TEST_CASE("advice about mapped buffers is for devices with memory of their own") {
  for (const char* device : {"gpu", "pthread-thing"}) {
    Program p;
    p.use();
    for (int i = 0; i < Times; ++i) {
      p.launch(p.k, {{p.b, Effect::UseDef}});
      p.unmap(p.b, p.map(p.b, 8 * MiB, 1, 2'000'000), 8 * MiB, false, 100);
    }
    Trace t = p.finish_trace();
    t.devices[0].device = device;
    CHECK(found_in(t).findings.size() == (t.devices[0].device == "gpu" ? 1 : 0));
  }
}
