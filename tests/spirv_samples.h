// SPIR-V modules with known answers: what a test checks, and what a fuzz target begins with.
#pragma once

#include <string>
#include <vector>

#include "tests/spirv_builder.h"

namespace gt::testing {

// c[i] = a[i] + b[i], and the index through a variable, as compilers write it without optimization.
inline void add_sum(SpirvBuilder& b) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto args = b.begin_kernel("sum", {p, p, p}, {"a", "b", "c"});
  const auto held = b.variable(p), i = b.global_index();
  b.store(held, args[0]);
  const auto x = b.load(b.u32(), b.element(p, b.load(p, held), i)), y = b.load(b.u32(), b.element(p, args[1], i));
  b.store(b.element(p, args[2], i), b.op(128, b.u32(), {x, y}));
  b.end_function();
}

// out[i] = in[i] * FACTOR; FACTOR is specialization constant 7.
inline void add_scaled(SpirvBuilder& b, uint32_t standard) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto factor = b.specialized(7, standard);
  const auto args = b.begin_kernel("scaled", {p, p}, {"in", "out"});
  const auto i = b.global_index();
  b.store(b.element(p, args[1], i), b.op(132, b.u32(), {b.load(b.u32(), b.element(p, args[0], i)), factor}));
  b.end_function();
}

// A function that calls itself: writes through its first parameter, passes both on the other way round.
inline void add_recursive(SpirvBuilder& b) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto f = b.begin_function(b.void_type(), {p, p});
  const auto self = b.function();
  b.label();
  b.store(f[0], b.number(1));
  b.call(b.void_type(), self, {f[1], f[0]});
  b.end_function();
  const auto args = b.begin_kernel("recursive", {p, p, p}, {"a", "b", "untouched"});
  b.call(b.void_type(), self, {args[0], args[1]});
  b.end_function();
}

// struct { global uint *in; uint n; global uint *out; } by value; `in` is loaded as a number.
inline void add_by_value(SpirvBuilder& b) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto captured = b.structure({p, b.u32(), p}), place = b.pointer(SpirvBuilder::Function, captured);
  const auto args = b.begin_kernel("by_value", {place}, {"captured"});
  b.decorate(args[0], {38, 2});
  const auto as_number = b.op(124, b.pointer(SpirvBuilder::Function, b.u64()), {args[0]});
  const auto in = b.op(120, p, {b.load(b.u64(), as_number)});
  const auto at = b.op(66, b.pointer(SpirvBuilder::Function, p), {args[0], b.number(2)});
  b.store(b.load(p, at), b.load(b.u32(), in));
  b.end_function();
}

// A block that is copied with its addresses, one of which is chosen; vloads and atomics.
inline void add_various(SpirvBuilder& b) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32());
  const auto pair = b.structure({p, p}), at = b.pointer(SpirvBuilder::Function, p);
  const auto args = b.begin_kernel("various", {p, p, p, p}, {"loaded", "chosen", "counted", "copied"});
  const auto first = b.variable(pair), second = b.variable(pair);
  b.store(b.op(66, at, {first, b.number(0)}), args[3]);
  b.store(b.op(66, at, {first, b.number(1)}), args[1]);
  b.act(64, {second, first, b.long_number(16)});
  const auto v4 = b.vector(b.u32(), 4);
  b.op(12, v4, {b.opencl_set(), 171, b.long_number(0), args[0], 4});
  const auto chosen = b.load(p, b.op(66, at, {second, b.number(1)}));
  b.store(b.op(169, p, {b.null(b.bool_type()), chosen, chosen}), b.number(3));
  b.op(234, b.u32(), {args[2], b.number(1), b.number(0), b.number(1)});
  b.act(63, {b.load(p, b.op(66, at, {second, b.number(0)})), args[0]});
  b.end_function();
}

// An address is stored in a buffer; another comes out of one; a third goes to a function that is not there.
inline void add_escaping(SpirvBuilder& b) {
  const auto p = b.pointer(SpirvBuilder::Global, b.u32()), pp = b.pointer(SpirvBuilder::Global, p);
  const auto outside = [&] {
    b.begin_function(b.void_type(), {p});
    b.act(56, {});
    return b.function();
  }();
  b.import(outside, "somebody_elses");
  const auto stores = b.begin_kernel("stores", {p, pp}, {"kept", "list"});
  b.store(stores[1], stores[0]);
  b.end_function();
  const auto loads = b.begin_kernel("loads", {p, pp}, {"beside", "list"});
  b.store(b.load(p, loads[1]), b.number(1));
  b.end_function();
  const auto calls = b.begin_kernel("calls", {p, p}, {"given", "beside"});
  b.call(b.void_type(), outside, {calls[0]});
  b.end_function();
}

inline Bytes sample_module(void (*add)(SpirvBuilder&)) {
  SpirvBuilder b;
  add(b);
  return b.bytes();
}
inline std::vector<Bytes> sample_modules() {
  SpirvBuilder all;
  add_escaping(all);  // first: its function without a body has to be
  add_scaled(all, 2);
  for (const auto add : {add_sum, add_recursive, add_by_value, add_various}) add(all);
  std::vector<Bytes> out = {all.bytes()};
  for (const auto add : {add_sum, add_recursive, add_by_value, add_various, add_escaping})
    out.push_back(sample_module(add));
  return out;
}

}  // namespace gt::testing
