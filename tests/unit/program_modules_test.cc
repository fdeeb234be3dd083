// Programs in SPIR-V as the collector keeps them: each kernel knows the modules that its program was made from.
#include <doctest/doctest.h>

#include "tests/spirv_samples.h"
#include "tracer/collect/collector.h"
#include "traces/api/encode.h"
#include "traces/model/folded/kernel_origin.h"

using namespace gt;
using namespace gt::testing;
using namespace gt::tracer;
using gt::api::FnId;

namespace {

template <class T>
T handle(uint64_t number) {
  return reinterpret_cast<T>(number);
}

// One thread's calls, as the injected library records them.
class Calls {
 public:
  Collector collector{1.0, 0};

  Calls() {
    owner_.pid = 1 << 30;
    owner_.stack_low = 0x1000;
    owner_.stack_high = 0x10000;
  }
  template <FnId F, class Ret, class... A>
  void call(Ret result, const A&... args) {
    api::VectorWriter in, out;
    in.word(0x400000 + 16 * ++place_);
    in.word(0x8000);
    api::encode_inputs<F>(in, args...);
    take(RecordType::Enter, api::number(F), in.view());
    api::encode_outputs<F>(out, result, args...);
    take(RecordType::Exit, api::number(F), out.view());
  }
  void program(uint64_t number, const Bytes& module) {
    cl_int code = CL_SUCCESS;
    call<FnId::clCreateProgramWithIL>(handle<cl_program>(number), handle<cl_context>(0x10),
                                      static_cast<const void*>(module.data()), module.size(), &code);
  }
  void kernel(uint64_t number, uint64_t program, const char* name) {
    cl_int code = CL_SUCCESS;
    call<FnId::clCreateKernel>(handle<cl_kernel>(number), handle<cl_program>(program), name, &code);
  }

 private:
  void take(RecordType type, uint16_t fn, ByteView payload) {
    const RecordHeader header{static_cast<uint32_t>(sizeof(RecordHeader) + payload.size()), type, fn, ++now_};
    collector.take({header, payload, 0, &owner_});
  }
  RingHeader owner_;
  uint64_t now_ = 1, place_ = 0;
};

// The modules of each kernel, in the order of the kernels' rows.
std::vector<std::vector<Bytes>> modules_of(const model::Trace& trace) {
  bool complete = false;
  const model::KernelOrigins origins = model::read_origins(trace, complete);
  std::vector<std::vector<Bytes>> out;
  for (const model::Kernel& k : trace.kernels) {
    std::vector<Bytes>& list = out.emplace_back();
    for (const model::BlobId id : origins.at(k.cls).front().modules) {
      const model::Blob& blob = trace.blobs[id];
      list.emplace_back(blob.bytes.begin(), blob.bytes.end());
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a kernel knows the SPIR-V of its program, and of all that was linked") {
  const Bytes sum = sample_module(add_sum), various = sample_module(add_various);
  Calls calls;
  calls.program(0x20, sum);
  calls.program(0x21, various);
  cl_int code = CL_SUCCESS;
  const cl_program parts[] = {handle<cl_program>(0x20), handle<cl_program>(0x21)};
  calls.call<FnId::clLinkProgram>(
      handle<cl_program>(0x22), handle<cl_context>(0x10), cl_uint{0}, static_cast<const cl_device_id*>(nullptr),
      static_cast<const char*>(nullptr), cl_uint{2}, static_cast<const cl_program*>(parts),
      static_cast<void(CL_CALLBACK*)(cl_program, void*)>(nullptr), static_cast<void*>(nullptr), &code);
  calls.kernel(0x30, 0x20, "sum");
  calls.kernel(0x31, 0x22, "various");
  const model::Trace trace = calls.collector.finish();
  CHECK(trace.fact("lost.undecodable_records") == "0");
  REQUIRE(trace.kernels.size() == 2);
  CHECK(trace.kernels[0].source == model::NoIndex);
  CHECK(modules_of(trace) == std::vector<std::vector<Bytes>>{{sum}, {sum, various}});
}
