// What instructions do, one by one.
#include <algorithm>

#include "traces/kernels/spirv_evaluation.h"

namespace gt::spirv {

const Cells& Evaluation::value(Id id) {
  const auto it = context_->values.find(id);
  if (it != context_->values.end()) return it->second;
  return globals_.value(id);
}

std::vector<Cells> Evaluation::values(Words w, size_t first) {
  std::vector<Cells> out;
  for (size_t i = first; i < w.size(); ++i) out.push_back(value(w[i]));
  return out;
}

// Is the number an address that was looked at as one, unchanged? Compilers load addresses so where they copy
// structures.
bool Evaluation::is_address(Id number, unsigned depth) {
  constexpr unsigned MostSteps = 8;
  if (is_constant(module_, number)) return true;
  const Words w = module_.definition(number);
  if (w.empty() || depth > MostSteps || types_.size_of(module_.type_of(number)) != types_.address_bytes()) return false;
  switch (op_of(w)) {
    case OpConvertPtrToU:
      return true;
    case OpLoad:
      return memory_.has_only_addresses(value(operand(w, 3)));
    case OpSelect:
      return is_address(operand(w, 4), depth + 1) && is_address(operand(w, 5), depth + 1);
    case OpPhi:
      for (size_t i = 3; i < w.size(); i += 2)
        if (w[i] != number && !is_address(w[i], depth + 1)) return false;
      return true;
    default:
      return false;
  }
}

// Bytes and truths are no addresses, and no parts of any that anybody puts together again.
bool Evaluation::can_hold(Id type) const {
  const Type* const t = types_.find(type);
  if (!t || t->form == Type::Form::Void || t->form == Type::Form::Bool) return false;
  return t->form != Type::Form::Number || t->size >= 4;
}

bool Evaluation::is_whole(Id type) const {
  const Type* const t = types_.find(type);
  return t && t->form != Type::Form::Struct && t->form != Type::Form::Array && t->form != Type::Form::Vector;
}

void Evaluation::set(Id id, Id type, const Cells& cells) {
  if (cells.empty() || !can_hold(type)) return;
  steps_ += cells.size();
  memory_.changed |= context_->values[id].add(cells);
}

void Evaluation::step(Words w) {
  const bool typed = w.size() >= 3 && types_.find(w[1]) && module_.type_of(w[2]) == w[1];
  if (!typed) {
    result_of(w);
    return;
  }
  const Cells found = result_of(w);
  set(w[2], w[1], found);
}

Cells Evaluation::result_of(Words w) {
  switch (op_of(w)) {
    case OpVariable:
    case OpUntypedVariable:
    case OpLoad:
    case OpStore:
    case OpCopyMemory:
    case OpCopyMemorySized:
    case OpAtomicLoad:
    case OpAtomicStore:
    case OpAtomicExchange:
    case OpAtomicCompareExchange:
    case OpAtomicCompareExchangeWeak:
    case OpGroupAsyncCopy:
      return memory_op(w);
    case OpAccessChain:
    case OpInBoundsAccessChain:
    case OpPtrAccessChain:
    case OpInBoundsPtrAccessChain:
    case OpUntypedAccessChain:
    case OpUntypedInBoundsAccessChain:
    case OpUntypedPtrAccessChain:
    case OpUntypedInBoundsPtrAccessChain:
      return chain(w);
    case OpCompositeConstruct:
    case OpCompositeExtract:
    case OpCompositeInsert:
      return composite(w);
    case OpFunctionCall:
      return call(operand(w, 3), values(w, std::min<size_t>(4, w.size())), w[1]);
    case OpReturnValue:
      memory_.changed |= context_->returned.add(value(operand(w, 1)));
      return {};
    case OpConvertUToPtr: {
      Cells out = value(operand(w, 3));
      if (!is_address(operand(w, 3))) out.add(nowhere());
      return out;
    }
    case OpPhi:
    case OpSelect:
    case OpISub:
    case OpBitwiseAnd:
      return passed(w, 3);
    case OpExtInst:
      return extended(w);
    case OpEnqueueKernel:
      return launch(w);
    case OpFunctionPointerCall:
    case OpAsmCall:
      out_.unknown |= Both;
      return hand_over(values(w, std::min<size_t>(4, w.size())), operand(w, 1));
    default: {
      const bool typed = w.size() >= 3 && types_.find(w[1]);
      return effect(effect_of(op_of(w)), w, typed ? 3 : 1);
    }
  }
}

Cells Evaluation::extended(Words w) {
  const std::string set = module_.extended_set(operand(w, 3));
  if (set == "OpenCL.std") return effect(effect_of_opencl(operand(w, 4)), w, 5);
  if (set.starts_with("NonSemantic") || set.find("DebugInfo") != set.npos) return {};
  return unknown_op(w, 5);
}

void Evaluation::do_access(const OpEffect& e, Words w, size_t first) {
  const Cells at = value(operand(w, first + e.pointer));
  const Cells packet = e.second == 0xff ? Cells() : value(operand(w, first + e.second));
  const unsigned how = e.effect == Effect::Loads ? Reads : e.effect == Effect::Stores ? Writes : Both;
  access(at, how);
  access(packet, how == Reads ? Writes : Reads);
  if (e.effect != Effect::Loads) memory_.put_numbers(at, UnknownSize);
  if (e.effect == Effect::Loads) memory_.put_numbers(packet, UnknownSize);
  if (e.effect == Effect::Loads) return;  // else what is written may be addresses
  for (size_t i = first; i < w.size(); ++i)
    if (i != first + e.pointer) memory_.expose(value(w[i]));
}

Cells Evaluation::effect(OpEffect e, Words w, size_t first) {
  switch (e.effect) {
    case Effect::Passes:
      return first >= 3 ? passed(w, first) : Cells();
    case Effect::Ignores:
      return {};
    case Effect::Unknown:
      return unknown_op(w, first);
    default:
      do_access(e, w, first);
      return first >= 3 ? memory_.load(Cells(value(operand(w, first + e.pointer))), operand(w, 1)) : Cells();
  }
}

// Words that are no ids may look like some: then too much is assumed, not too little.
Cells Evaluation::unknown_op(Words w, size_t first) {
  return hand_over(values(w, std::min(first, w.size())), first >= 3 ? operand(w, 1) : 0);
}

// A block and what it captured.
Cells Evaluation::launch(Words w) {
  constexpr size_t Event = 8, Invoke = 9, Param = 10;
  access(value(operand(w, Event)), Writes);
  std::vector<Cells> args = {value(operand(w, Param))};
  call(operand(w, Invoke), args, w[1]);
  return {};
}

}  // namespace gt::spirv
