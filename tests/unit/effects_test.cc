// What launches do to buffers once the kernels are known, and the versions that follow.
#include "analyzer/calls/effects.h"

#include <doctest/doctest.h>

#include "tests/unit/sample_trace.h"
#include "traces/model/ssa/ssa.h"

using namespace gt::testing;
using gt::analyzer::KernelFacts;
using gt::kernels::Access;
using gt::kernels::AddressSpace;
namespace api = gt::api;

namespace {

using Accesses = std::vector<Access>;

KernelFacts kernel(ClassId cls, const Accesses& accesses, Access elsewhere = Access::None) {
  KernelFacts k;
  k.exact = true;
  k.elsewhere = elsewhere;
  k.classes = {cls};
  for (const Access a : accesses) k.args.push_back({"x", "__global int *", AddressSpace::Global, a});
  return k;
}

// One launch of one kernel with three buffers and what lies under one of them.
struct OneLaunch {
  TraceBuilder b;
  ClassId kernel_class, other_class, buffer;
  ShapeId launch;

  explicit OneLaunch(api::FnId call = api::FnId::clEnqueueNDRangeKernel) {
    const SiteId at = b.site(1);
    kernel_class = b.cls(ObjectKind::Kernel, fn(api::FnId::clCreateKernel), at, b.blob("k"));
    other_class = b.cls(ObjectKind::Kernel, fn(api::FnId::clCreateKernel), at, b.blob("other"));
    buffer = b.cls(ObjectKind::Buffer, fn(api::FnId::clCreateBuffer), at);
    const auto bound = [&](uint16_t index) {
      return Arg{static_cast<uint16_t>(ParamKernelArg + index), ArgForm::Object, Effect::UseDef, buffer};
    };
    launch = b.shape(fn(call), at,
                     {{1, ArgForm::Object, Effect::Use, kernel_class},
                      bound(0),
                      bound(1),
                      bound(2),
                      {ParamImplied, ArgForm::Object, Effect::UseDef, buffer},
                      {ParamReturn, ArgForm::Int}});
  }
  std::vector<Effect> refined(const std::vector<KernelFacts>& kernels) const {
    return gt::analyzer::refine_effects(b.trace, kernels)[launch];
  }
};

using E = Effect;
using Effects = std::vector<Effect>;
const Effects AsRecorded = {E::Use, E::UseDef, E::UseDef, E::UseDef, E::UseDef, E::None};

}  // namespace

TEST_CASE("a launch defines what its kernel writes") {
  const OneLaunch t;
  const Accesses accesses = {Access::Read, Access::Write, Access::None};
  const Effects wanted = {E::Use, E::Use, E::UseDef, E::None, E::UseDef, E::None};
  CHECK(t.refined({kernel(t.kernel_class, accesses)}) == wanted);
}

TEST_CASE("a kernel that writes nothing leaves what lies under its buffers as it was") {
  const OneLaunch t;
  const Accesses accesses = {Access::Read, Access::Read, Access::None};
  const Effects wanted = {E::Use, E::Use, E::Use, E::None, E::Use, E::None};
  CHECK(t.refined({kernel(t.kernel_class, accesses)}) == wanted);
  CHECK(t.refined({kernel(t.kernel_class, accesses, Access::Write)})[4] == E::UseDef);
}

TEST_CASE("a kernel that is not known keeps what was recorded") {
  const OneLaunch t;
  CHECK(t.refined({}) == AsRecorded);
  CHECK(t.refined({kernel(t.kernel_class, {})}) == AsRecorded);
  CHECK(t.refined({kernel(t.other_class, {Access::None, Access::None, Access::None})}) == AsRecorded);
  const OneLaunch recorded_only(api::FnId::clCommandNDRangeKernelKHR);
  const Accesses none = {Access::None, Access::None, Access::None};
  CHECK(recorded_only.refined({kernel(recorded_only.kernel_class, none)}) == AsRecorded);
}

TEST_CASE("a class that may be one of several kernels does what any of them does") {
  const OneLaunch t;
  const KernelFacts one = kernel(t.kernel_class, {Access::Read, Access::None, Access::None});
  const KernelFacts two = kernel(t.kernel_class, {Access::Write, Access::Read});
  CHECK(t.refined({one, two}) == Effects{E::Use, E::UseDef, E::Use, E::UseDef, E::UseDef, E::None});
  CHECK(t.refined({one, kernel(t.kernel_class, {})}) == AsRecorded);
}

TEST_CASE("what is passed by value says nothing about a buffer that has its bits") {
  const OneLaunch t;
  KernelFacts k = kernel(t.kernel_class, {Access::None, Access::None, Access::None});
  k.args[0].space = AddressSpace::Private;
  CHECK(t.refined({k})[1] == E::UseDef);
}

TEST_CASE("a kernel that only reads makes no version") {
  Trace t = paper_loop(10);
  const auto source = t.blobs.size();
  const std::string text = "kernel void vadd(global float* x) { if (x[0] > 1) return; }";
  t.blobs.push_back({gt::Bytes(text.begin(), text.end()), text.size()});
  t.kernels[0].source = static_cast<BlobId>(source);
  const auto effects = gt::analyzer::refine_effects(t, gt::analyzer::find_kernels(t));
  const Ssa ssa(t, effects);
  const size_t launch = 6;  // in pre-order
  CHECK(ssa.at(1, launch).uses.size() == 3);
  CHECK(ssa.at(1, launch).defs.empty());
  CHECK(Ssa(t).at(1, launch).defs.size() == 1);
}
