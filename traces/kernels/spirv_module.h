// A SPIR-V module, looked up by ids: instructions, types, functions and the kernels that it has.
//
// Modules come from programs, so they are hostile: nothing in one is trusted. What reads an instruction asks for its
// words by `operand()`, which gives 0 (no id) beyond the end. Both byte orders are read.
// Invariants: ids in the tables are below `bound`, and an instruction's words are in the module.
// Cost: the words are copied once and walked once. Thread safety: none while it is read, then a value.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/status.h"
#include "traces/kernels/spirv_types.h"

namespace gt::spirv {

inline uint16_t op_of(Words instruction) { return static_cast<uint16_t>(instruction[0]); }
inline uint32_t operand(Words instruction, size_t i) { return i < instruction.size() ? instruction[i] : 0; }

struct Function {
  size_t first = 0, last = 0;  // words of the module: behind OpFunction, and where its OpFunctionEnd is
  std::vector<Id> parameters;
  bool has_body = false;
};
struct EntryPoint {
  std::string name;
  Id function = 0;
};

class Module {
 public:
  // Corrupt: not SPIR-V, or damaged. Unsupported: more ids than any compiler makes.
  static Result<Module> read(ByteView bytes);

  // The instruction whose result it is; empty: none.
  Words definition(Id id) const;
  Id type_of(Id id) const;  // 0: it has none
  const Types& types() const { return types_; }
  const Function* function(Id id) const;
  const std::vector<EntryPoint>& kernels() const { return kernels_; }
  std::string name_of(Id id) const;    // as the front end had it; "": stripped
  std::string import_of(Id id) const;  // the name under which a function without a body is looked for
  std::string type_name(Id type) const { return types_.name(type, names_); }
  bool has_attribute(Id parameter, uint32_t attribute) const;  // FuncParamAttr
  bool has_decoration(Id id, uint32_t decoration) const;
  std::optional<int64_t> constant(Id id) const;  // what specialization cannot change
  std::string extended_set(Id id) const;         // "OpenCL.std"; "": not one

  // The instruction that begins there, which moves on behind it. REQUIRES: of a function.
  Words next(size_t& at) const;

 private:
  Status walk();
  Status define(size_t at, Words w);
  void note(Words w);
  void decorate(Words w);
  std::string text(Words w, size_t from) const;

  std::vector<uint32_t> words_;
  std::vector<uint32_t> where_;  // by id: where its definition begins; 0: nowhere
  Types types_;
  std::unordered_map<Id, Function> functions_;
  std::vector<EntryPoint> kernels_;
  std::unordered_map<Id, std::string> names_, imports_;
  std::unordered_map<Id, std::vector<std::pair<uint32_t, uint32_t>>> decorations_;  // with their first operand
  Function* open_ = nullptr;                                                        // while walking
};

}  // namespace gt::spirv
