// What kernels of SPIR-V modules do with their arguments, and that nothing in a module does harm.
#include "traces/kernels/spirv_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/spirv_samples.h"

using namespace gt;
using namespace gt::testing;
using kernels::Access;
using kernels::AddressSpace;

namespace {

// "a=read b=write!": what each argument's memory sees; "!": its address escapes; "+8:read": of the memory behind an
// address inside it; "local:": not global memory.
std::string told(const kernels::Kernel& k) {
  std::string out;
  for (const kernels::Arg& a : k.args) {
    if (!out.empty()) out += " ";
    out += a.name + "=";
    if (a.space != AddressSpace::Global) out += std::string(address_space_name(a.space)) + ":";
    out += access_name(a.access);
    if (a.escapes) out += "!";
    for (const kernels::Member& m : a.members) out += "+" + std::to_string(m.offset) + ":" + access_name(m.access);
  }
  return out;
}

std::string told(const Bytes& module, const std::string& kernel) {
  const auto read = kernels::SpirvKernels::read(module);
  if (!read.ok()) return read.status().text();
  bool exact = false;
  const auto k = read->find(kernel, exact);
  if (!k) return "no such kernel";
  return (exact ? "" : "given up: ") + told(*k);
}

Access elsewhere(const Bytes& module, const std::string& kernel) {
  for (const kernels::Kernel& k : kernels::read_spirv(module).kernels)
    if (k.name == kernel) return k.elsewhere;
  return Access::ReadWrite;
}

void put_word(Bytes& module, size_t index, uint32_t value) { std::memcpy(module.data() + index * 4, &value, 4); }
uint32_t word(const Bytes& module, size_t index) {
  uint32_t value = 0;
  std::memcpy(&value, module.data() + index * 4, 4);
  return value;
}

}  // namespace

TEST_CASE("addresses are followed through variables, calls and structures") {
  CHECK(told(sample_module(add_sum), "sum") == "a=read b=read c=write");
  CHECK(told(sample_module(add_recursive), "recursive") == "a=write b=write untouched=none");
  CHECK(told(sample_module(add_various), "various") == "loaded=read chosen=write counted=read_write copied=write");
  CHECK(elsewhere(sample_module(add_sum), "sum") == Access::None);
  const auto k = kernels::read_spirv(sample_module(add_sum)).kernels.at(0);
  CHECK(k.args[0].type == "global uint *");
}

TEST_CASE("addresses inside what is passed by value") {
  const Bytes module = sample_module(add_by_value);
  CHECK(told(module, "by_value") == "captured=private:none+0:read+16:write");
  CHECK(elsewhere(module, "by_value") == Access::ReadWrite);
}

TEST_CASE("addresses that leave sight, and those from nowhere") {
  const Bytes module = sample_module(add_escaping);
  CHECK(told(module, "stores") == "kept=none! list=write");
  CHECK(elsewhere(module, "stores") == Access::None);
  CHECK(told(module, "loads") == "beside=write list=read_write");
  CHECK(elsewhere(module, "loads") == Access::Write);
  CHECK(told(module, "calls") == "given=read_write! beside=read_write");
  CHECK(elsewhere(module, "calls") == Access::ReadWrite);
}

TEST_CASE("a number is no address, unless it was one") {
  SpirvBuilder b;
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto a = b.begin_kernel("from_number", {p, b.u64()}, {"a", "n"});
  b.store(b.op(120, p, {a[1]}), b.number(1));
  b.end_function();
  const auto r = b.begin_kernel("there_and_back", {p, p}, {"a", "b"});
  b.store(b.op(120, p, {b.op(117, b.u64(), {r[0]})}), b.number(1));
  b.end_function();
  // Eight bytes of a buffer, put where an address is.
  const auto m = b.begin_kernel("by_bytes", {p, p}, {"a", "bytes"});
  const auto v = b.variable(p);
  b.store(v, m[0]);
  b.act(64, {v, m[1], b.long_number(8)});
  b.load(b.u32(), b.load(p, v));
  b.end_function();
  CHECK(told(b.bytes(), "from_number") == "a=write n=private:none");
  CHECK(elsewhere(b.bytes(), "from_number") == Access::Write);
  CHECK(told(b.bytes(), "there_and_back") == "a=write b=none");
  CHECK(told(b.bytes(), "by_bytes") == "a=read bytes=read");
  CHECK(elsewhere(b.bytes(), "by_bytes") == Access::Read);
}

TEST_CASE("images, constants, local memory, and what decorations say") {
  SpirvBuilder b;
  const auto global = b.pointer(SpirvBuilder::Global, b.u32());
  const auto local = b.pointer(SpirvBuilder::Local, b.u32()), constant = b.pointer(SpirvBuilder::Constant, b.u32());
  const auto v4 = b.vector(b.u32(), 4), v2 = b.vector(b.u32(), 2);
  const auto a = b.begin_kernel("memories", {b.image2d(0), b.image2d(1), local, constant, global},
                                {"from", "to", "scratch", "table", "fixed"});
  const auto pixel = b.op(98, v4, {a[0], b.null(v2)});
  b.act(99, {a[1], b.null(v2), pixel});
  b.store(a[2], b.load(b.u32(), a[3]));
  b.act(9999, {a[4]});  // no instruction that anybody knows
  b.end_function();
  CHECK(told(b.bytes(), "memories") == "from=read to=write scratch=local:write table=constant:read fixed=read_write!");
  b.decorate(a[4], {24});
  CHECK(told(b.bytes(), "memories").ends_with("fixed=read!"));
}

TEST_CASE("arrays that a specialization constant makes longer") {
  SpirvBuilder b;
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto several = b.structure({b.array(b.u32(), b.specialized(1, 4)), p, p});
  const auto a = b.begin_kernel("longer", {p, p}, {"a", "b"});
  const auto v = b.variable(several), at = b.pointer(SpirvBuilder::Function, p);
  b.store(b.op(66, at, {v, b.number(1)}), a[0]);
  b.store(b.op(66, at, {v, b.number(2)}), a[1]);
  b.store(b.load(p, b.op(66, at, {v, b.number(1)})), b.number(1));
  b.end_function();
  CHECK(told(b.bytes(), "longer") == "a=write b=write");  // where the members lie, only the build knows
}

TEST_CASE("both byte orders") {
  Bytes module = sample_modules()[0];
  const std::string here = told(module, "various");
  for (size_t i = 0; i < module.size(); i += 4) std::reverse(module.begin() + i, module.begin() + i + 4);
  CHECK(told(module, "various") == here);
}

TEST_CASE("what is no module is said to be none") {
  CHECK_FALSE(kernels::read_spirv({}).note.empty());
  const Bytes text = {'n', 'o', 't', ' ', 'S', 'P', 'I', 'R', '-', 'V',
                      ' ', 'a', 't', ' ', 'a', 'l', 'l', '.', '.', '.'};
  CHECK(kernels::read_spirv(text).note == "not a SPIR-V module");
  Bytes huge = sample_module(add_sum);
  put_word(huge, 3, 0xffffffff);
  CHECK(kernels::read_spirv(huge).note == "the module has too many ids");
}

TEST_CASE("every cut and every odd word ends with an answer") {
  const uint32_t odd[] = {0, 1, 2, 7, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x00010038, 0x000500f5};
  for (const Bytes& module : sample_modules()) {
    for (size_t cut = 0; cut < module.size(); cut += 3) kernels::read_spirv(ByteView(module).first(cut));
    for (size_t i = 0; i < module.size() / 4; ++i)
      for (const uint32_t value : odd) {
        Bytes damaged = module;
        put_word(damaged, i, value);
        kernels::read_spirv(damaged);
      }
  }
  std::mt19937 random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    Bytes damaged = sample_modules()[0];
    for (int n = 0; n < 4; ++n) {
      const size_t words = damaged.size() / 4;
      put_word(damaged, random() % words, word(damaged, random() % words));
    }
    kernels::read_spirv(damaged);
  }
}

TEST_CASE("calls without end are given up, and take bounded time") {
  constexpr unsigned Chain = 5000;
  SpirvBuilder b;
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  uint32_t next = 0;
  for (unsigned i = 0; i < Chain; ++i) {
    const auto f = b.begin_function(b.void_type(), {p});
    b.label();
    if (next != 0) b.call(b.void_type(), next, {f[0]});
    next = b.function();
    b.end_function();
  }
  const auto a = b.begin_kernel("deep", {p}, {"a"});
  b.call(b.void_type(), next, {a[0]});
  b.end_function();
  CHECK(told(b.bytes(), "deep") == "given up: a=read_write!");
  CHECK_FALSE(kernels::read_spirv(b.bytes()).exact);
}
