// A function's body as the analysis of arguments sees it: expressions that name places in memory,
// read, write and pass on addresses. Everything else (arithmetic, control flow) is `Parts`.
//
// Statements are expressions, too, and their order does not matter. An expression whose Op is a
// place names memory; where it stands for a value, that memory is read.
//   p[i].next = q->left        Assign(Member next(Deref(p, i)), Member left(Deref(q)))
#pragma once

#include <cstdint>
#include <vector>

namespace gt::kernels {

using VariableId = uint32_t;
using FunctionId = uint32_t;
using FieldId = uint32_t;  // of a struct's member; of a union as a whole
constexpr FieldId NoField = 0;
constexpr FieldId AnyField = 0xffffffff;
// The id of a union that may hold addresses has this bit: whatever lies in its members, however deep,
// is one.
constexpr FieldId UnionField = 0x40000000;
constexpr bool is_union(FieldId id) { return id != AnyField && (id & UnionField) != 0; }

enum class Op : uint8_t {
  Parts,  // evaluates its parts; its value is any of theirs
  // --- Places ---
  Variable,  // id: a variable
  Member,    // id: a field of the place parts[0]
  Element,   // an element of the array or vector parts[0], a place; the others are evaluated
  Deref,     // where parts[0] points; the others are evaluated
  // --- Values ---
  Address,     // of the place parts[0]
  Assign,      // parts[1] to the place parts[0]
  Update,      // the place parts[0] is read and written: ++, +=
  Declare,     // id: a variable; parts: its initial value
  Initialize,  // id: the field that parts[0] goes to, in the value of a struct
  ToNumber,    // parts[0] leaves sight as a number
  FromNumber,  // an address that comes from a number
  Reshape,     // parts[0], a pointer to other members than the memory has
  Expose,      // parts[0], a pointer to addresses as numbers, or to numbers as addresses
  Call,        // id: a function; parts: its arguments
  Builtin,     // access: what it does through each argument
  Foreign,     // a function that is not known; parts: what it gets
  CallBlock,   // a block; parts: it and what it gets. Its body is evaluated where it stands
  Return,
  Asm,
};
constexpr bool is_place(Op op) { return op >= Op::Variable && op <= Op::Deref; }

struct Expr {
  Op op = Op::Parts;
  bool carries = false;  // its value may hold addresses...
  bool record = false;   // ...in members of a struct
  uint32_t id = 0;
  std::vector<Expr> parts;
  std::vector<uint8_t> access;  // bits of Access
};

struct Variable {
  bool carries = false, record = false;
  bool outlives = false;  // the launch: of program scope, or static
};
struct Function {
  std::vector<VariableId> parameters;
  Expr body;
};

}  // namespace gt::kernels
