// Assembles small SPIR-V modules: kernels of 64-bit OpenCL, valid for drivers where a test wants that.
//
//   SpirvBuilder b;
//   const uint32_t p = b.pointer(SpirvBuilder::Global, b.u32());
//   const auto args = b.begin_kernel("copy", {p, p}, {"in", "out"});
//   b.store(args[1], b.load(b.u32(), args[0]));
//   b.end_function();
//   b.bytes()
// Types and constants are made once each. Thread safety: none.
#pragma once

#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "traces/base/bytes.h"

namespace gt::testing {

class SpirvBuilder {
 public:
  using Word = uint32_t;
  using Words = std::vector<Word>;
  enum Storage : Word { Constant = 0, Input = 1, Local = 4, Global = 5, Function = 7, Generic = 8 };

  Word id() { return next_++; }

  // --- Types ---
  Word void_type() { return type(19, {}); }
  Word bool_type() { return type(20, {}); }
  Word u8() { return type(21, {8, 0}); }
  Word u32() { return type(21, {32, 0}); }
  Word u64() { return type(21, {64, 0}); }
  Word f32() { return type(22, {32}); }
  Word vector(Word of, Word n) { return type(23, {of, n}); }
  Word array(Word of, Word length) { return type(28, {of, length}); }
  Word structure(const Words& members) { return type(30, members); }
  Word pointer(Storage storage, Word to) { return type(32, {storage, to}); }
  Word image2d(Word access) { return type(25, {void_type(), 1, 0, 0, 0, 0, 0, access}); }
  Word function_type(Word result, Words parameters) {
    parameters.insert(parameters.begin(), result);
    return type(33, parameters);
  }

  // --- Constants ---
  Word number(Word value) { return shared(43, {u32(), 0, value}); }
  Word long_number(uint64_t value) {
    return shared(43, {u64(), 0, static_cast<Word>(value), static_cast<Word>(value >> 32)});
  }
  Word null(Word of) { return shared(46, {of, 0}); }
  // clSetProgramSpecializationConstant(SPEC, 4 bytes).
  Word specialized(Word spec, Word value) {
    const Word made = id();
    put(annotations_, 71, {made, 1, spec});
    put(globals_, 50, {u32(), made, value});
    return made;
  }
  Word global_variable(Storage storage, Word of, Word initial = 0) {
    const Word made = id();
    Words w = {pointer(storage, of), made, storage};
    if (initial != 0) w.push_back(initial);
    put(globals_, 59, w);
    return made;
  }
  Word opencl_set() {
    if (set_ == 0) set_ = id();
    return set_;
  }
  // The index of the work-item in the first dimension, 64 bits: declares it, to be loaded in kernels.
  Word global_index() {
    if (index_ == 0) {
      index_ = global_variable(Input, vector(u64(), 3));
      put(annotations_, 71, {index_, 11, 28});  // BuiltIn GlobalInvocationId
    }
    return op(81, u64(), {op(61, vector(u64(), 3), {index_}), 0});
  }

  // --- Functions ---
  Words begin_function(Word result, const Words& parameters) {
    function_ = id();
    put(code_, 54, {result, function_, 0, function_type(result, parameters)});
    Words made;
    for (const Word t : parameters) {
      made.push_back(id());
      put(code_, 55, {t, made.back()});
    }
    return made;
  }
  Words begin_kernel(const std::string& name, const Words& parameters, const std::vector<std::string>& names = {}) {
    const Words made = begin_function(void_type(), parameters);
    for (size_t i = 0; i < names.size(); ++i) this->name(made[i], names[i]);
    kernels_.emplace_back(function_, name);
    label();
    return made;
  }
  Word function() const { return function_; }
  void end_function() {
    put(code_, 253, {});
    put(code_, 56, {});
  }
  Word label() {
    const Word made = id();
    put(code_, 248, {made});
    return made;
  }
  // With a result.
  Word op(Word opcode, Word of, const Words& operands) {
    const Word made = id();
    Words w = {of, made};
    w.insert(w.end(), operands.begin(), operands.end());
    put(code_, opcode, w);
    return made;
  }
  // Without.
  void act(Word opcode, const Words& operands) { put(code_, opcode, operands); }
  Word load(Word of, Word from) { return op(61, of, {from, 2, 4}); }
  void store(Word to, Word value) { act(62, {to, value}); }
  Word variable(Word of) { return op(59, pointer(Function, of), {Function}); }
  Word element(Word of, Word base, Word index) { return op(70, of, {base, index}); }
  Word call(Word result, Word function, Words args) {
    args.insert(args.begin(), function);
    return op(57, result, args);
  }

  void name(Word of, const std::string& text) {
    Words w = {of};
    add_text(w, text);
    put(names_, 5, w);
  }
  void decorate(Word of, Words decoration) {
    decoration.insert(decoration.begin(), of);
    put(annotations_, 71, decoration);
  }
  void import(Word function, const std::string& text) {
    Words w = {function, 41};
    add_text(w, text);
    w.push_back(1);
    put(annotations_, 71, w);
  }

  Bytes bytes() const {
    Words all = {0x07230203, 0x00010000, 0, next_, 0};
    for (const Word capability : {4u, 5u, 6u, 11u}) put(all, 17, {capability});  // Addresses, Linkage, Kernel, Int64
    if (set_ != 0) {
      Words w = {set_};
      add_text(w, "OpenCL.std");
      put(all, 11, w);
    }
    put(all, 14, {2, 2});  // Physical64, OpenCL
    for (const auto& [function, kernel] : kernels_) {
      Words w = {6, function};
      add_text(w, kernel);
      if (index_ != 0) w.push_back(index_);
      put(all, 15, w);
    }
    for (const Words* part : {&names_, &annotations_, &globals_, &code_})
      all.insert(all.end(), part->begin(), part->end());
    Bytes out(all.size() * sizeof(Word));
    std::memcpy(out.data(), all.data(), out.size());
    return out;
  }

 private:
  static void put(Words& to, Word opcode, const Words& operands) {
    to.push_back(static_cast<Word>(operands.size() + 1) << 16 | opcode);
    to.insert(to.end(), operands.begin(), operands.end());
  }
  static void add_text(Words& to, const std::string& text) {
    const size_t first = to.size();
    to.resize(first + text.size() / sizeof(Word) + 1);
    std::memcpy(to.data() + first, text.data(), text.size());
  }
  Word type(Word opcode, Words operands) {
    operands.insert(operands.begin(), 0);
    return shared(opcode, std::move(operands), 0);
  }
  // The one instruction of that kind, whose result goes where there is a 0.
  Word shared(Word opcode, Words operands, size_t result = 1) {
    const auto [at, fresh] = shared_.try_emplace({opcode, operands});
    if (!fresh) return at->second;
    at->second = operands[result] = id();
    put(globals_, opcode, operands);
    return at->second;
  }

  Word next_ = 1, set_ = 0, index_ = 0, function_ = 0;
  std::map<std::pair<Word, Words>, Word> shared_;
  std::vector<std::pair<Word, std::string>> kernels_;
  Words names_, annotations_, globals_, code_;
};

}  // namespace gt::testing
