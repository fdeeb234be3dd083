// Instructions that load and store, and that compute addresses.
#include <algorithm>

#include "traces/kernels/spirv_evaluation.h"

namespace gt::spirv {

Cells Evaluation::memory_op(Words w) {
  const auto at = [&](size_t i) { return Cells(value(operand(w, i))); };
  const auto put = [&](const Cells& to, Id what) {
    memory_.store(to, at(what), module_.type_of(operand(w, what)), is_constant(module_, operand(w, what)));
  };
  switch (op_of(w)) {
    case OpVariable:
    case OpUntypedVariable: {
      const bool plain = op_of(w) == OpVariable;
      const Type* const pointer = types_.find(w[1]);
      const Id type = plain ? (pointer ? pointer->element : 0) : operand(w, 4);
      const Id initial = operand(w, plain ? 4 : 5);
      const auto [it, fresh] = context_->variables.try_emplace(w[2]);
      if (fresh) it->second = memory_.add(true, types_.size_of(type));
      Cells out;
      out.add({it->second, 0, 0});
      if (initial != 0) memory_.store(out, Cells(value(initial)), type, is_constant(module_, initial));
      return out;
    }
    case OpLoad:
    case OpAtomicLoad:
      access(value(operand(w, 3)), Reads);
      return memory_.load(at(3), w[1]);
    case OpStore:
    case OpAtomicStore: {
      const Cells to = at(1);
      access(to, Writes);
      put(to, op_of(w) == OpStore ? 2 : 4);
      return {};
    }
    case OpAtomicExchange:
    case OpAtomicCompareExchange:
    case OpAtomicCompareExchangeWeak: {
      const Cells to = at(3);
      access(to, Both);
      put(to, op_of(w) == OpAtomicExchange ? 6 : 7);
      return memory_.load(to, w[1]);
    }
    case OpGroupAsyncCopy: {
      access(value(operand(w, 4)), Writes);
      access(value(operand(w, 5)), Reads);
      Cells to;
      for (Cell c : at(4)) to.add({c.object, memory_.is_followed(c.object) ? Anywhere : 0, c.at});
      memory_.copy(to, at(5), UnknownSize);
      return at(8);
    }
    default: {
      access(value(operand(w, 1)), Writes);
      access(value(operand(w, 2)), Reads);
      uint64_t bytes = UnknownSize;
      if (op_of(w) == OpCopyMemorySized) {
        if (const auto n = module_.constant(operand(w, 3)); n && *n >= 0) bytes = static_cast<uint64_t>(*n);
      } else if (const Type* const t = types_.find(module_.type_of(operand(w, 1)))) {
        bytes = types_.size_of(t->element);
      }
      memory_.copy(at(1), at(2), bytes);
      return {};
    }
  }
}

Cells Evaluation::chain(Words w) {
  const uint16_t op = op_of(w);
  const bool untyped = op >= OpTypeUntypedPointer;
  const size_t base = untyped ? 4 : 3;
  const bool of_pointer = op == OpPtrAccessChain || op == OpInBoundsPtrAccessChain || op == OpUntypedPtrAccessChain ||
                          op == OpUntypedInBoundsPtrAccessChain;
  const Cells& from = value(operand(w, base));
  if (from.empty()) return {};
  Cells out;
  const bool followed =
      std::any_of(from.begin(), from.end(), [&](const Cell& c) { return memory_.is_followed(c.object); });
  if (!followed) return from;
  const Type* const pointer = types_.find(module_.type_of(operand(w, base)));
  const Id type = untyped ? operand(w, 3) : pointer ? pointer->element : 0;
  const Steps steps = steps_of(module_, type, w, base + 1, of_pointer);
  for (const Cell& c : from) {
    if (steps.anywhere) {
      out.add({c.object, memory_.is_followed(c.object) ? Anywhere : 0, c.at});
      continue;
    }
    for (const Cell& element : memory_.elements(c, steps.stride))
      for (const int64_t by : steps.bytes) out.add(memory_.moved(element, by));
  }
  return out;
}

Cells Evaluation::composite(Words w) {
  Cells out;
  const auto add_at = [&](const Cells& cells, const Part& part) {
    for (Cell c : cells) {
      c.at = part.known && c.at != Anywhere && part.at + c.at < Anywhere ? static_cast<uint32_t>(part.at + c.at)
                                                                         : Anywhere;
      out.add(c);
    }
  };
  if (op_of(w) == OpCompositeConstruct) {
    const Type* const t = types_.find(w[1]);
    for (size_t i = 3; i < w.size(); ++i) {
      const uint32_t index[] = {static_cast<uint32_t>(i - 3)};
      const bool by_parts = t && (t->form == Type::Form::Struct || t->count == w.size() - 3);
      Part part = part_of(module_, w[1], index, 0);
      part.known &= by_parts;
      add_at(value(w[i]), part);
    }
  } else if (op_of(w) == OpCompositeInsert) {
    out = value(operand(w, 4));
    add_at(value(operand(w, 3)), part_of(module_, w[1], w, std::min<size_t>(5, w.size())));
  } else {
    const Part part = part_of(module_, module_.type_of(operand(w, 3)), w, std::min<size_t>(4, w.size()));
    const uint64_t size = types_.size_of(w[1]);
    for (Cell c : value(operand(w, 3))) {
      const bool lost = c.at == Anywhere || !part.known || size == UnknownSize;
      if (!lost && (c.at + uint64_t{8} <= part.at || c.at >= part.at + size)) continue;
      c.at = is_whole(w[1]) ? 0 : lost || c.at < part.at ? Anywhere : static_cast<uint32_t>(c.at - part.at);
      out.add(c);
    }
  }
  return out;
}

// What the operands point to, the result may.
Cells Evaluation::passed(Words w, size_t first) {
  Cells out;
  const uint16_t op = op_of(w);
  if (op == OpISub && !value(operand(w, 3)).empty() && !value(operand(w, 4)).empty()) return out;  // a distance
  if (op == OpBitwiseAnd) {  // how an address is aligned
    constexpr int64_t Page = 4096;
    for (const size_t i : {3, 4}) {
      const auto mask = module_.constant(operand(w, i));
      if (mask && *mask >= 0 && *mask < Page) return out;
    }
  }
  const bool arithmetic = op >= 126 && op <= 205 && op != OpSelect;
  const bool mixes = (op >= 77 && op <= 79) || op == 84;
  const size_t stride = op == OpPhi ? 2 : 1;
  for (size_t i = op == OpSelect ? first + 1 : first; i < w.size(); i += stride) {
    for (Cell c : value(w[i])) {
      if (arithmetic && memory_.is_followed(c.object)) c.offset = Anywhere;
      if (is_whole(w[1]))
        c.at = 0;
      else if (mixes)
        c.at = Anywhere;
      out.add(c);
    }
  }
  return out;
}

}  // namespace gt::spirv
