// What the values outside functions point to, and how far indices lead.
// Thread safety: none.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "traces/kernels/spirv_memory.h"
#include "traces/kernels/spirv_module.h"

namespace gt::spirv {

// The module's variables and constants. Objects of variables are added to the memory when they are asked for.
class Globals {
 public:
  Globals(const Module& module, Memory& memory) : module_(module), memory_(memory) {}
  const Cells& value(Id id);

 private:
  static constexpr unsigned Deepest = 64;
  static bool is_global(Words w);
  Cells make(Id id, Words w);
  Cells variable(Id id, Words w);

  const Module& module_;
  Memory& memory_;
  std::unordered_map<Id, Cells> known_;
  unsigned depth_ = 0;
};

bool is_constant(const Module& module, Id id);

// Where indices lead from the beginning of an object of that type: every place that they may, or none: anywhere.
struct Steps {
  std::vector<int64_t> bytes = {0};
  uint64_t stride = 0;  // and any number of these before; 0: none
  bool anywhere = false;
};
// `indices`: ids, from `first` of the instruction on. `of_pointer`: the first one counts whole objects.
Steps steps_of(const Module& module, Id type, Words instruction, size_t first, bool of_pointer);
// Of literal indices (OpCompositeExtract): where, and what type lies there.
struct Part {
  uint64_t at = 0;
  Id type = 0;
  bool known = true;
};
Part part_of(const Module& module, Id type, Words instruction, size_t first);

}  // namespace gt::spirv
