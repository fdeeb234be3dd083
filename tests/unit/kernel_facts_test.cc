// The kernels of a trace joined with their programs: with several, with none, with what the driver said.
#include "analyzer/calls/kernel_facts.h"

#include <doctest/doctest.h>

#include "analyzer/calls/effects.h"
#include "tests/spirv_samples.h"
#include "tests/unit/sample_trace.h"
#include "traces/model/folded/kernel_origin.h"

using namespace gt::testing;
using gt::analyzer::find_kernels;
using gt::analyzer::KernelFacts;
using gt::kernels::Access;
using gt::kernels::AddressSpace;
namespace api = gt::api;

namespace {

void put_fact(Trace& t, const std::string& name, const std::string& value) { t.facts.emplace_back(name, value); }

BlobId add_blob(Trace& t, std::string_view text) {
  t.blobs.push_back({gt::Bytes(text.begin(), text.end()), text.size()});
  return static_cast<BlobId>(t.blobs.size() - 1);
}

ShapeId launch_shape(const Trace& t) {
  for (size_t i = 0; i < t.shapes.size(); ++i)
    if (api::attributes(t.shapes[i].fn).launch) return static_cast<ShapeId>(i);
  FAIL("no launch");
  return 0;
}

Effect effect_on_buffer(const Trace& t) {
  const ShapeId launch = launch_shape(t);
  return gt::analyzer::refine_effects(t, find_kernels(t))[launch].back();
}

}  // namespace

TEST_CASE("origins become facts and come back") {
  Trace t = paper_loop(3);
  const ClassId cls = t.kernels[0].cls;
  KernelOrigins origins;
  add_origin(origins[cls], {t.kernels[0].source, NoIndex, {}});
  add_origin(origins[cls], {NoIndex, NoIndex, "global\tnone\tconst \tint*\ta\n"});
  add_origin(origins[cls], {NoIndex, NoIndex, "global\tnone\tconst \tint*\ta\n"});
  add_origin_facts(t, origins);
  bool complete = false;
  CHECK(read_origins(t, complete) == origins);
  CHECK(complete);
  CHECK(origins[cls].size() == 2);
}

TEST_CASE("a class has a bounded number of programs") {
  std::vector<KernelOrigin> list;
  for (BlobId i = 0; i < 1000; ++i) add_origin(list, {i, NoIndex, {}});
  CHECK(list.size() == MostOrigins + 1);
  CHECK(list.back() == KernelOrigin{});
}

TEST_CASE("facts that make no sense are no origins") {
  Trace t = paper_loop(3);
  for (const char* name : {"kernel..program", "kernel.program", "kernel.-1.program", "kernel.99999.program",
                           "kernel.0x3.program", "kernel.3.programs"})
    put_fact(t, name, "7 7\n");
  put_fact(t, "kernel." + std::to_string(t.kernels[0].cls) + ".program", "123456 nonsense");
  bool complete = true;
  const KernelOrigins origins = read_origins(t, complete);
  CHECK_FALSE(complete);
  REQUIRE(origins.size() == 1);
  CHECK(origins.begin()->second == std::vector<KernelOrigin>{KernelOrigin{}});
}

TEST_CASE("what the driver says of a kernel without source") {
  Trace t = paper_loop(3);
  t.kernels[0].source = NoIndex;
  KernelOrigins origins;
  origins[t.kernels[0].cls] = {{NoIndex, NoIndex,
                                "global\tnone\tconst restrict \tfloat*\tin\n"
                                "global\tnone\t\tfloat*\tout\n"
                                "constant\tnone\tconst \tfloat*\ttable\n"
                                "local\tnone\t\tint*\ttile\n"
                                "private\tnone\t\tint\tn\n"
                                "global\tread_only\t\timage2d_t\tim\n"
                                "global\twrite_only\tpipe \tint\tp\n"}};
  add_origin_facts(t, origins);
  const auto kernels = find_kernels(t);
  REQUIRE(kernels.size() == 1);
  const KernelFacts& k = kernels[0];
  CHECK_FALSE(k.exact);
  CHECK(k.launches == 3);
  REQUIRE(k.args.size() == 7);
  const Access accesses[] = {Access::Read, Access::ReadWrite, Access::Read, Access::ReadWrite,
                             Access::None, Access::Read,      Access::Write};
  for (size_t i = 0; i < 7; ++i) CHECK(k.args[i].access == accesses[i]);
  CHECK(k.args[2].space == AddressSpace::Constant);
  CHECK(k.args[3].space == AddressSpace::Local);
  CHECK(k.args[4].space == AddressSpace::Private);
  CHECK(effect_on_buffer(t) == Effect::Use);
}

TEST_CASE("a kernel of a program in SPIR-V") {
  const auto scaled = [](const char* kernel) {
    SpirvBuilder b;
    const auto p = b.pointer(SpirvBuilder::Global, b.u32());
    const auto args = b.begin_kernel(kernel, {p, p}, {"", "out"});
    b.store(args[1], b.load(b.u32(), args[0]));
    b.end_function();
    return b.bytes();
  };
  Trace t = paper_loop(3);
  t.kernels[0].source = NoIndex;
  const BlobId other = add_blob(t, gt::as_text(sample_module(add_sum)));
  const BlobId module = add_blob(t, gt::as_text(scaled("vadd"))), damaged = add_blob(t, "not a module");
  KernelOrigins origins;
  std::vector<KernelOrigin>& list = origins[t.kernels[0].cls];
  list = {{NoIndex, NoIndex, "global\tnone\t\tuint*\tin\n", {other, module}}};
  Trace good = t;
  add_origin_facts(good, origins);
  bool complete = false;
  CHECK(read_origins(good, complete) == origins);
  const auto found = find_kernels(good);
  REQUIRE(found.size() == 1);
  CHECK(found[0].exact);
  REQUIRE(found[0].args.size() == 2);
  CHECK(found[0].args[0].access == Access::Read);
  CHECK(found[0].args[0].name == "in");  // stripped from the module: the driver says it
  CHECK(found[0].args[1].access == Access::Write);
  CHECK(found[0].elsewhere == Access::None);
  list[0].modules = {damaged};
  add_origin_facts(t, origins);
  const auto declared = find_kernels(t);
  REQUIRE(declared.size() == 1);
  CHECK_FALSE(declared[0].exact);
  CHECK(declared[0].note == "not a SPIR-V module");
  CHECK(declared[0].args.size() == 1);
}

TEST_CASE("a place that makes kernels of two programs does what either does") {
  Trace t = paper_loop(3);
  const ClassId cls = t.kernels[0].cls;
  t.kernels[0].source = add_blob(t, "kernel void vadd(global float* x) { if (x[0] > 0) return; }");
  CHECK(effect_on_buffer(t) == Effect::Use);
  KernelOrigins origins;
  const BlobId other = add_blob(t, "kernel void vadd(global float* x) { x[0] = 1; }");
  origins[cls] = {{t.kernels[0].source, NoIndex, {}}, {other, NoIndex, {}}};
  add_origin_facts(t, origins);
  CHECK(find_kernels(t).size() == 2);
  CHECK(effect_on_buffer(t) == Effect::UseDef);
  uint64_t launches = 0, first = 0;
  for (const KernelFacts& k : find_kernels(t)) {
    launches += k.launches;
    first += k.shared == KernelFacts::Shared::First;
    CHECK(k.shared == (k.launches > 0 ? KernelFacts::Shared::First : KernelFacts::Shared::Other));
  }
  CHECK(launches == 3);
  CHECK(first == 1);
}

TEST_CASE("an older recording that may have lost programs") {
  Trace t = paper_loop(3);
  t.kernels[0].source = add_blob(t, "kernel void vadd(global float* x) { if (x[0] > 0) return; }");
  t.shapes.push_back({fn(api::FnId::clBuildProgram), 0, 0, false, {}, Direction::None});
  t.stats.emplace_back();
  t.stats.back().calls = 1;
  CHECK(effect_on_buffer(t) == Effect::Use);
  t.stats.back().calls = 2;
  CHECK(effect_on_buffer(t) == Effect::UseDef);
  put_fact(t, "kernel.programs", "1");
  CHECK(effect_on_buffer(t) == Effect::Use);
}

TEST_CASE("options that change nothing, and a budget that is spent") {
  Trace t = paper_loop(3);
  KernelOrigins origins;
  for (const char* options : {"-cl-mad-enable", "-w", ""})
    origins[t.kernels[0].cls].push_back({t.kernels[0].source, add_blob(t, options), {}});
  add_origin_facts(t, origins);
  for (const KernelFacts& k : find_kernels(t)) CHECK(k.exact);
  const auto unread = find_kernels(t, 0);
  REQUIRE(unread.size() == 3);
  for (const KernelFacts& k : unread) {
    CHECK_FALSE(k.exact);
    CHECK(k.args.empty());
    CHECK_FALSE(k.note.empty());
  }
}
