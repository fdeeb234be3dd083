// Sizes, places and names.
#include "traces/kernels/spirv_types.h"

#include <algorithm>

#include "traces/kernels/spirv_ops.h"

namespace gt::spirv {
namespace {

constexpr uint64_t LargestSize = uint64_t{1} << 48;
constexpr unsigned Deepest = 32;

uint64_t product(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  if (a == UnknownSize || b == UnknownSize || __builtin_mul_overflow(a, b, &out) || out > LargestSize)
    return UnknownSize;
  return out;
}

uint64_t rounded(uint64_t at, uint64_t align) { return at == UnknownSize ? at : (at + align - 1) / align * align; }

void make_number(Type& t, uint32_t bits) {
  t.form = Type::Form::Number;
  t.size = t.align = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16;
  if (bits > 128) t.size = UnknownSize;
}

Type handle(Type::Form form, uint32_t storage, bool holds) {
  Type t;
  t.form = form;
  t.storage = storage;
  t.holds = holds;
  t.size = t.align = 8;
  return t;
}

std::string number_name(const Type& t) {
  if (t.form == Type::Form::Bool) return "bool";
  if (t.is_float) return t.size == 2 ? "half" : t.size == 4 ? "float" : "double";
  constexpr const char* Names[] = {"char", "short", "int", "long"};
  const size_t i = t.size <= 1 ? 0 : t.size == 2 ? 1 : t.size == 4 ? 2 : 3;
  return std::string(t.is_signed ? "" : "u") + Names[i];
}

const char* space_name(uint32_t storage) {
  switch (storage) {
    case UniformConstant:
      return "constant ";
    case Workgroup:
      return "local ";
    case CrossWorkgroup:
      return "global ";
    case DeviceOnly:
      return "global ";
    case HostOnly:
      return "global ";
    case GenericStorage:
      return "generic ";
    default:
      return "";
  }
}

}  // namespace

void Types::add(Words w, uint64_t array_length, bool packed) {
  const auto operand = [&](size_t i) { return i < w.size() ? w[i] : 0; };
  const auto op = static_cast<uint16_t>(w[0]);
  Type t;
  switch (op) {
    case OpTypeVoid:
      t.form = Type::Form::Void;
      t.size = 0;
      break;
    case OpTypeBool:
      t.form = Type::Form::Bool;
      t.size = 1;
      break;
    case OpTypeInt:
    case OpTypeFloat:
      make_number(t, operand(2));
      t.is_float = op == OpTypeFloat;
      t.is_signed = op == OpTypeInt && operand(3) != 0;
      break;
    case OpTypeVector:
    case OpTypeMatrix:
    case OpTypeArray:
    case OpTypeRuntimeArray:
      add_series(t, w, array_length);
      break;
    case OpTypeStruct:
      add_struct(t, w, packed);
      break;
    case OpTypePointer:
    case OpTypeUntypedPointer:
      t = handle(Type::Form::Pointer, operand(2), true);
      t.element = op == OpTypePointer ? operand(3) : 0;
      t.size = t.align = address_bytes_;
      break;
    case OpTypeImage:
      t = handle(Type::Form::Image, operand(9), true);
      t.count = operand(3);  // its Dim
      break;
    case OpTypeSampledImage:
      t = handle(Type::Form::Image, 0, true);
      break;
    case OpTypeSampler:
      t = handle(Type::Form::Sampler, 0, false);
      break;
    case OpTypePipe:
      t = handle(Type::Form::Pipe, operand(2), true);
      break;
    case OpTypeFunction:
      t.form = Type::Form::Function;
      break;
    default:  // events, queues, matrices of work-groups, ...: no addresses that a kernel could take out of them
      t.size = t.align = 8;
      break;
  }
  types_[operand(1)] = std::move(t);
}

void Types::add_series(Type& t, Words w, uint64_t array_length) const {
  const auto op = static_cast<uint16_t>(w[0]);
  const bool vector = op == OpTypeVector;
  t.form = vector ? Type::Form::Vector : Type::Form::Array;
  t.element = w.size() > 2 ? w[2] : 0;
  t.count = op == OpTypeArray ? array_length : op == OpTypeRuntimeArray || w.size() < 4 ? UnknownSize : w[3];
  t.holds = holds(t.element);
  t.size = product(size_of(t.element), vector && t.count == 3 ? 4 : t.count);
  const Type* const element = find(t.element);
  t.align = element ? element->align : 1;
  if (vector && t.size != UnknownSize) t.align = std::max<uint64_t>(t.size, 1);
}

void Types::add_struct(Type& t, Words w, bool packed) const {
  t.form = Type::Form::Struct;
  t.size = 0;
  for (size_t i = 2; i < w.size(); ++i) {
    const Type* const member = find(w[i]);
    const uint64_t align = packed || !member ? 1 : member->align;
    const uint64_t at = rounded(t.size, align), size = size_of(w[i]);
    t.members.push_back(w[i]);
    t.places.push_back(at);
    t.holds |= !member || member->holds;
    t.align = std::max(t.align, align);
    t.size = at == UnknownSize || size == UnknownSize || at + size > LargestSize ? UnknownSize : at + size;
  }
  t.size = rounded(t.size, t.align);
}

const Type* Types::find(Id id) const {
  const auto it = types_.find(id);
  return it == types_.end() ? nullptr : &it->second;
}

uint64_t Types::size_of(Id id) const {
  const Type* const t = find(id);
  return t ? t->size : UnknownSize;
}

bool Types::holds(Id id) const {
  const Type* const t = find(id);
  return !t || t->holds;
}

bool Types::add_leaves(Id id, uint64_t at, std::vector<Leaf>& out, unsigned depth) const {
  const Type* const t = find(id);
  if (t && t->size == 0) return true;
  if (!t || t->size == UnknownSize || depth > Deepest || out.size() >= MostLeaves) return false;
  if (!t->holds || (t->form != Type::Form::Struct && t->form != Type::Form::Array && t->form != Type::Form::Vector)) {
    out.push_back({at, t->size, t->holds, !t->holds});
    return true;
  }
  if (t->form == Type::Form::Struct) {
    for (size_t i = 0; i < t->members.size(); ++i)
      if (!add_leaves(t->members[i], at + t->places[i], out, depth + 1)) return false;
    return true;
  }
  if (t->count > MostLeaves) return false;
  for (uint64_t i = 0; i < t->count; ++i)
    if (!add_leaves(t->element, at + i * size_of(t->element), out, depth + 1)) return false;
  return true;
}

std::vector<Leaf> Types::leaves(Id id) const {
  std::vector<Leaf> out;
  if (add_leaves(id, 0, out, 0)) return out;
  return {{0, size_of(id), true, true}};
}

std::string Types::name(Id id, const std::unordered_map<Id, std::string>& named) const {
  std::string behind;
  const Type* t = find(id);
  for (unsigned depth = 0; t && t->form == Type::Form::Pointer && depth < Deepest; ++depth) {
    behind = " *" + behind;
    if (t->element == 0) return space_name(t->storage) + ("void" + behind);
    const Type* const to = find(t->element);
    if (!to || to->form != Type::Form::Pointer) return space_name(t->storage) + name(t->element, named) + behind;
    t = to;
  }
  if (!t) return "?" + behind;
  switch (t->form) {
    case Type::Form::Void:
      return "void";
    case Type::Form::Bool:
    case Type::Form::Number:
      return number_name(*t);
    case Type::Form::Vector: {
      const Type* const element = find(t->element);
      return (element ? number_name(*element) : "?") + std::to_string(t->count);
    }
    case Type::Form::Struct: {
      const auto it = named.find(id);
      return it == named.end() || it->second.empty() ? "struct" : it->second;
    }
    case Type::Form::Image: {
      constexpr const char* Dims[] = {"1d", "2d", "3d", "?", "?", "1d_buffer"};
      return t->count < 6 ? std::string("image") + Dims[t->count] + "_t" : "image";
    }
    case Type::Form::Sampler:
      return "sampler_t";
    case Type::Form::Pipe:
      return "pipe";
    case Type::Form::Array:
      return "array";
    default:
      return "opaque";
  }
}

}  // namespace gt::spirv
