// The evaluation of one kernel of a SPIR-V module, behind find_access() (spirv_access.h, which says how it goes).
//
// In three files: functions and what they are called with (spirv_evaluation.cc), what instructions do
// (spirv_instructions.cc), and those that load, store and compute addresses (spirv_addresses.cc).
// Thread safety: none.
#pragma once

#include <unordered_map>

#include "traces/kernels/spirv_access.h"
#include "traces/kernels/spirv_memory.h"
#include "traces/kernels/spirv_ops.h"
#include "traces/kernels/spirv_values.h"

namespace gt::spirv {

// A function, for one combination of what its arguments point to.
struct Context {
  const Function* function = nullptr;
  std::unordered_map<Id, Cells> values;  // those that point to something
  std::unordered_map<Id, ObjectId> variables;
  Cells returned;
  unsigned pass = 0;  // the last one that evaluated it
};

class Evaluation {
 public:
  Evaluation(const Module& module, uint64_t most_steps)
      : module_(module), types_(module.types()), memory_(types_), globals_(module, memory_), most_steps_(most_steps) {}

  KernelAccess run(Id kernel);

 private:
  static constexpr size_t MostContexts = 2000;  // from then on, one for each function
  static constexpr unsigned Deepest = 300;      // calls inside calls

  void bind(Context& c, const Function& kernel);
  Cells behind(size_t parameter, Id id);
  Cells inside(size_t parameter, Id type);
  void finish();

  Context* context(Id function, const std::vector<Cells>& args);
  void evaluate(Context& c);
  Cells call(Id function, const std::vector<Cells>& args, Id type);
  Cells hand_over(const std::vector<Cells>& args, Id type);

  void step(Words w);
  Cells result_of(Words w);
  Cells memory_op(Words w);
  Cells composite(Words w);
  Cells chain(Words w);
  Cells passed(Words w, size_t first);
  Cells extended(Words w);
  Cells effect(OpEffect e, Words w, size_t first);
  Cells unknown_op(Words w, size_t first);
  Cells launch(Words w);
  void do_access(const OpEffect& e, Words w, size_t first);

  const Cells& value(Id id);
  std::vector<Cells> values(Words w, size_t first);
  void set(Id id, Id type, const Cells& cells);
  bool is_address(Id number, unsigned depth = 0);
  bool can_hold(Id type) const;
  bool is_whole(Id type) const;
  void access(const Cells& at, unsigned how);
  static Cells nowhere() {
    Cells out;
    out.add({UnknownMemory, 0, 0});
    return out;
  }

  const Module& module_;
  const Types& types_;
  Memory memory_;
  Globals globals_;
  uint64_t most_steps_, steps_ = 0;
  KernelAccess out_;
  size_t parameters_ = 0;
  std::map<ObjectId, std::pair<size_t, uint64_t>> members_;
  std::map<std::pair<Id, std::vector<Cells>>, Context> contexts_;
  Context* context_ = nullptr;
  unsigned pass_ = 0, depth_ = 0;
};

}  // namespace gt::spirv
