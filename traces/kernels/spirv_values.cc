// Constants, and bytes of indices.
#include "traces/kernels/spirv_values.h"

#include <algorithm>

#include "traces/kernels/spirv_ops.h"

namespace gt::spirv {
namespace {

constexpr uint64_t MostSteps = 32;  // places that an index may lead to: beyond that, anywhere

void add_steps(Steps& steps, std::optional<int64_t> index, uint64_t stride, uint64_t count) {
  if (steps.anywhere) return;
  if (stride == UnknownSize) {
    steps.anywhere = !index || *index != 0;
    return;
  }
  if (index) {
    int64_t by = 0;
    if (__builtin_mul_overflow(*index, static_cast<int64_t>(stride), &by) || std::abs(by) > INT32_MAX) {
      steps.anywhere = true;
      return;
    }
    for (int64_t& at : steps.bytes) at += by;
    return;
  }
  if (count == UnknownSize || count * steps.bytes.size() > MostSteps) {
    steps.anywhere = true;
    return;
  }
  std::vector<int64_t> all;
  for (const int64_t at : steps.bytes)
    for (uint64_t i = 0; i < count; ++i) all.push_back(at + static_cast<int64_t>(i * stride));
  steps.bytes = std::move(all);
}

}  // namespace

bool is_constant(const Module& module, Id id) {
  const Words w = module.definition(id);
  if (w.empty()) return false;
  return op_of(w) == OpUndef || (op_of(w) > OpTypePipe && op_of(w) <= OpSpecConstantOp);
}

Steps steps_of(const Module& module, Id type, Words w, size_t first, bool of_pointer) {
  Steps steps;
  const Types& types = module.types();
  size_t i = first;
  if (of_pointer) {
    const auto whole = module.constant(operand(w, i++));
    if (!whole && types.size_of(type) != UnknownSize)
      steps.stride = types.size_of(type);
    else
      add_steps(steps, whole, types.size_of(type), UnknownSize);
  }
  for (; i < w.size() && !steps.anywhere; ++i) {
    const Type* const t = types.find(type);
    const auto index = module.constant(w[i]);
    if (!t) {
      steps.anywhere = true;
    } else if (t->form == Type::Form::Struct) {
      const bool known = index && *index >= 0 && static_cast<size_t>(*index) < t->members.size();
      const uint64_t at = known ? t->places[static_cast<size_t>(*index)] : UnknownSize;
      if (at == UnknownSize) {
        steps.anywhere = true;
        break;
      }
      add_steps(steps, static_cast<int64_t>(at), 1, 1);
      type = t->members[static_cast<size_t>(*index)];
    } else if (t->element != 0 && t->form != Type::Form::Pointer) {
      type = t->element;
      add_steps(steps, index, types.size_of(type), t->count);
    } else {
      steps.anywhere = true;
    }
  }
  return steps;
}

Part part_of(const Module& module, Id type, Words w, size_t first) {
  Part part{0, type, true};
  for (size_t i = first; i < w.size(); ++i) {
    const Type* const t = module.types().find(part.type);
    uint64_t by = UnknownSize;
    if (t && t->form == Type::Form::Struct && w[i] < t->members.size()) {
      by = t->places[w[i]];
      part.type = t->members[w[i]];
    } else if (t && t->element != 0 && t->form != Type::Form::Pointer) {
      const uint64_t size = module.types().size_of(t->element);
      if (size != UnknownSize && size < (uint64_t{1} << 32)) by = size * w[i];
      part.type = t->element;
    }
    if (by == UnknownSize || part.at + by >= Anywhere) part.known = false;
    part.at = part.known ? part.at + by : 0;
  }
  return part;
}

bool Globals::is_global(Words w) {
  if (w.empty()) return false;
  switch (op_of(w)) {
    case OpVariable:
    case OpUntypedVariable:
    case OpConstantComposite:
    case OpSpecConstantComposite:
    case OpSpecConstantOp:
      return true;
    default:
      return false;
  }
}

const Cells& Globals::value(Id id) {
  static const Cells None;
  const Words w = module_.definition(id);
  if (!is_global(w)) return None;
  const auto [at, fresh] = known_.try_emplace(id);
  if (!fresh || depth_ >= Deepest) return at->second;
  ++depth_;
  Cells made = make(id, w);
  --depth_;
  return known_[id] = std::move(made);
}

Cells Globals::make(Id id, Words w) {
  Cells out;
  switch (op_of(w)) {
    case OpVariable:
    case OpUntypedVariable:
      return variable(id, w);
    case OpConstantComposite:
    case OpSpecConstantComposite:
      for (size_t i = 3; i < w.size(); ++i) {
        const uint32_t index[] = {static_cast<uint32_t>(i - 3)};
        const Part part = part_of(module_, w[1], index, 0);
        for (Cell c : Cells(value(w[i]))) {
          c.at = part.known && c.at != Anywhere ? static_cast<uint32_t>(part.at + c.at) : Anywhere;
          out.add(c);
        }
      }
      return out;
    case OpSpecConstantOp:
      for (size_t i = 4; i < w.size(); ++i)
        for (Cell c : Cells(value(w[i]))) {
          c.offset = Anywhere;
          out.add(c);
        }
      return out;
    default:
      return out;
  }
}

Cells Globals::variable(Id id, Words w) {
  Cells out;
  const uint32_t storage = operand(w, 3);
  const bool is_plain = op_of(w) == OpVariable;
  const Type* const pointer = module_.types().find(w[1]);
  const Id type = is_plain ? (pointer ? pointer->element : 0) : operand(w, 4);
  const Id initial = operand(w, is_plain ? 4 : 5);
  const bool read_only = (storage == UniformConstant && initial != 0) || storage == Input;
  const bool of_launch = storage == Workgroup || storage == PrivateStorage;
  if (!read_only && !of_launch) {
    out.add({StaticMemory, 0, 0});
    return out;
  }
  const ObjectId object = memory_.add(true, module_.types().size_of(type));
  out.add({object, 0, 0});
  if (storage == Input) memory_.put_numbers(out, UnknownSize);
  known_[id] = out;  // its initial value may lead to it
  if (initial != 0) memory_.store(out, Cells(value(initial)), type, true);
  return out;
}

}  // namespace gt::spirv
