// From libclang's syntax tree to expressions (expr.h).
// Thread safety: as libclang.
#pragma once

#include <deque>
#include <optional>

#include "analyzer/kernels/expr.h"
#include "analyzer/kernels/type_facts.h"

namespace gt::kernels {

class Lowering {
 public:
  // `declared`: the functions that the source itself declares (canonical cursors); others are built
  // in. (libclang gives built-in functions the place of their first use, so their place does not
  // tell.)
  explicit Lowering(CursorSet declared) : declared_(std::move(declared)) {}

  FunctionId function(CXCursor definition);
  const Function& body(FunctionId id);  // lowered on first use
  const Variable& variable(VariableId id) const { return variables_[id]; }
  // Something that was lowered is a pointer and does not look like one: nothing that follows can be relied on.
  bool lost_pointers() const { return lost_pointers_; }

 private:
  struct Lowered {
    CXCursor definition;
    std::optional<Function> function;
  };

  Expr lower(CXCursor c);
  Expr place(CXCursor c, CXCursor base, Op op);
  Expr member(CXCursor c, Expr base);
  Expr other(CXCursor c);
  Expr parts(CXCursor c);
  Expr unary(CXCursor c, CXCursor operand);
  Expr cast(CXCursor c, CXCursor from);
  Expr call(CXCursor c);
  Expr declaration(CXCursor c);
  Expr list(CXCursor c);
  Expr statements(CXCursor c);
  Expr made(CXCursor c, Op op);
  VariableId variable(CXCursor declaration);
  FieldId field_id(CXCursor declaration);

  CursorSet declared_;
  bool lost_pointers_ = false;
  TypeFacts types_;
  CursorMap<FunctionId> function_ids_;
  CursorMap<VariableId> variable_ids_;
  CursorMap<FieldId> field_ids_;
  std::deque<Lowered> functions_;
  std::deque<Variable> variables_;
};

}  // namespace gt::kernels
