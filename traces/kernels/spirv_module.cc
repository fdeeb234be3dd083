// One walk over the words.
#include "traces/kernels/spirv_module.h"

#include <algorithm>
#include <cstring>

#include "traces/kernels/spirv_ops.h"

namespace gt::spirv {
namespace {

constexpr uint32_t Magic = 0x07230203, Kernel = 6, Physical32 = 1;
constexpr size_t HeaderWords = 5;
// What a compiler numbers it defines, mostly; tools that take out what is not used leave gaps.
constexpr size_t IdsPerWord = 4, SpareIds = 1 << 16;

Status corrupt(const std::string& what) { return {Kind::Corrupt, "the SPIR-V module is damaged: " + what}; }

}  // namespace

Result<Module> Module::read(ByteView bytes) {
  Module m;
  m.words_.resize(bytes.size() / sizeof(uint32_t));
  if (m.words_.size() < HeaderWords) return Status(Kind::Corrupt, "not a SPIR-V module");
  std::memcpy(m.words_.data(), bytes.data(), m.words_.size() * sizeof(uint32_t));
  if (m.words_[0] == __builtin_bswap32(Magic))
    for (uint32_t& w : m.words_) w = __builtin_bswap32(w);
  if (m.words_[0] != Magic) return Status(Kind::Corrupt, "not a SPIR-V module");
  const size_t bound = m.words_[3];
  if (bound > m.words_.size() * IdsPerWord + SpareIds) return Status(Kind::Unsupported, "the module has too many ids");
  m.where_.resize(bound);
  if (Status s = m.walk(); !s.ok()) return s;
  return m;
}

Words Module::next(size_t& at) const {
  const Words w(words_.data() + at, words_[at] >> 16);
  at += w.size();
  return w;
}

Status Module::walk() {
  for (size_t at = HeaderWords; at < words_.size();) {
    const size_t count = words_[at] >> 16, begin = at;
    if (count == 0 || count > words_.size() - at) return corrupt("an instruction goes beyond its end");
    const Words w = next(at);
    note(w);
    if (Status s = define(begin, w); !s.ok()) return s;
    if (op_of(w) == OpFunctionEnd && open_) {
      open_->last = begin;
      open_ = nullptr;
    }
  }
  if (open_) return corrupt("a function has no end");
  std::erase_if(kernels_, [&](const EntryPoint& k) { return !functions_.contains(k.function); });
  return {};
}

// What instructions say that define nothing.
void Module::note(Words w) {
  switch (op_of(w)) {
    case OpMemoryModel:
      types_.set_address_bytes(operand(w, 1) == Physical32 ? 4 : 8);
      break;
    case OpEntryPoint:
      if (operand(w, 1) == Kernel) kernels_.push_back({text(w, 3), operand(w, 2)});
      break;
    case OpName:
      names_.try_emplace(operand(w, 1), text(w, 2));
      break;
    case OpDecorate:
    case OpGroupDecorate:
      decorate(w);
      break;
    default:
      break;
  }
}

void Module::decorate(Words w) {
  if (op_of(w) == OpGroupDecorate) {
    const auto group = decorations_.find(operand(w, 1));
    if (group == decorations_.end()) return;
    const auto given = group->second;
    for (size_t i = 2; i < w.size(); ++i) {
      auto& list = decorations_[w[i]];
      list.insert(list.end(), given.begin(), given.end());
    }
    return;
  }
  const uint32_t decoration = operand(w, 2);
  if (decoration == LinkageAttributes) imports_.try_emplace(operand(w, 1), text(w, 3));
  if (decoration == PackedStruct || decoration == NonWritable || decoration == NonReadable ||
      decoration == FuncParamAttr)
    decorations_[operand(w, 1)].emplace_back(decoration, operand(w, 3));
}

Status Module::define(size_t at, Words w) {
  const uint16_t op = op_of(w);
  const bool is_type = is_type_op(op);
  const bool alone = is_type || op == OpLabel || op == OpString || op == OpExtInstImport || op == OpDecorationGroup;
  const Id id = operand(w, alone ? 1 : 2);
  if (!alone && (w.size() < 3 || !types_.find(w[1]))) return {};  // it has no result
  if (id == 0 || id >= where_.size() || where_[id] != 0) return corrupt("id " + std::to_string(id) + " is wrong");
  where_[id] = static_cast<uint32_t>(at);
  if (is_type) {
    uint64_t length = UnknownSize;
    if (op == OpTypeArray)
      if (const auto n = constant(operand(w, 3)); n && *n >= 0) length = static_cast<uint64_t>(*n);
    types_.add(w, length, has_decoration(id, PackedStruct));
  }
  if (op == OpFunction) {
    if (open_) return corrupt("a function is inside another");
    open_ = &functions_[id];
    open_->first = at + w.size();
  }
  if (op == OpFunctionParameter && open_) open_->parameters.push_back(id);
  if (op == OpLabel && open_) open_->has_body = true;
  return {};
}

Words Module::definition(Id id) const {
  if (id >= where_.size() || where_[id] == 0) return {};
  size_t at = where_[id];
  return next(at);
}

Id Module::type_of(Id id) const {
  const Words w = definition(id);
  if (w.size() < 3) return 0;
  const uint16_t op = op_of(w);
  return is_type_op(op) || op == OpString || op == OpExtInstImport ? 0 : w[1];
}

const Function* Module::function(Id id) const {
  const auto it = functions_.find(id);
  return it == functions_.end() ? nullptr : &it->second;
}

std::string Module::name_of(Id id) const {
  const auto it = names_.find(id);
  return it == names_.end() ? "" : it->second;
}

std::string Module::import_of(Id id) const {
  const auto it = imports_.find(id);
  return it == imports_.end() ? "" : it->second;
}

bool Module::has_attribute(Id parameter, uint32_t attribute) const {
  const auto it = decorations_.find(parameter);
  return it != decorations_.end() &&
         std::find(it->second.begin(), it->second.end(), std::pair<uint32_t, uint32_t>(FuncParamAttr, attribute)) !=
             it->second.end();
}

bool Module::has_decoration(Id id, uint32_t decoration) const {
  const auto it = decorations_.find(id);
  return it != decorations_.end() &&
         std::any_of(it->second.begin(), it->second.end(), [&](const auto& d) { return d.first == decoration; });
}

std::optional<int64_t> Module::constant(Id id) const {
  const Words w = definition(id);
  if (w.empty()) return std::nullopt;
  if (op_of(w) == OpConstantNull) return 0;
  const Type* const t = op_of(w) == OpConstant && w.size() >= 4 ? types_.find(w[1]) : nullptr;
  if (!t || t->form != Type::Form::Number || t->is_float || t->size > 8) return std::nullopt;
  // Narrow values fill their word; whether they are negative was decided by the front end.
  if (w.size() >= 5) return static_cast<int64_t>(uint64_t{w[4]} << 32 | w[3]);
  return t->size == 4 ? static_cast<int32_t>(w[3]) : static_cast<int64_t>(w[3]);
}

std::string Module::extended_set(Id id) const {
  const Words w = definition(id);
  return w.empty() || op_of(w) != OpExtInstImport ? "" : text(w, 2);
}

// Four bytes a word, the first in the lowest bits; a NUL ends it.
std::string Module::text(Words w, size_t from) const {
  std::string out;
  for (size_t i = from; i < w.size(); ++i)
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(w[i] >> shift);
      if (c == '\0') return out;
      out += c;
    }
  return out;
}

}  // namespace gt::spirv
