// One rule for each kind of cursor. What has no rule is made of its parts.
#include "analyzer/kernels/lowering.h"

#include <algorithm>

#include "analyzer/kernels/builtins.h"

namespace gt::kernels {
namespace {

using Change = TypeFacts::Change;

bool is_zero(CXCursor c) {
  const CXEvalResult result = clang_Cursor_Evaluate(c);
  if (!result) return false;
  const bool zero = clang_EvalResult_getKind(result) == CXEval_Int && clang_EvalResult_getAsLongLong(result) == 0;
  clang_EvalResult_dispose(result);
  return zero;
}

bool is_function(CXType t) { return t.kind == CXType_FunctionProto || t.kind == CXType_FunctionNoProto; }

bool is_expression(CXCursor c) { return clang_isExpression(clang_getCursorKind(c)) != 0; }

bool outlives_launch(CXCursor variable) {
  const auto scope = clang_getCursorKind(clang_getCursorSemanticParent(variable));
  const auto storage = clang_Cursor_getStorageClass(variable);
  return scope == CXCursor_TranslationUnit || storage == CX_SC_Static || storage == CX_SC_Extern;
}

uint8_t builtin_argument(CXCursor callee, unsigned i) {
  const CXCursor parameter = clang_Cursor_getArgument(callee, i);
  const CXType t = clang_Cursor_isNull(parameter)
                       ? clang_getCanonicalType(clang_getArgType(clang_getCursorType(callee), i))
                       : type_of(parameter);
  const bool to_const = is_pointer(t) && clang_isConstQualifiedType(pointee(t));
  return static_cast<uint8_t>(builtin_access(take(clang_getCursorSpelling(callee)), i, to_const));
}

CXVisitorResult collect_field(CXCursor field, CXClientData out) {
  static_cast<Cursors*>(out)->push_back(field);
  return CXVisit_Continue;
}
Cursors fields_of(CXType record) {
  Cursors out;
  clang_Type_visitFields(record, collect_field, &out);
  return out;
}

// The union that a field lies in, be it in a nameless struct of it; else the struct. (libclang leaves
// nameless members out of the way to a field.)
CXCursor record_of(CXCursor field) {
  CXCursor record = clang_getCursorSemanticParent(field);
  CXCursor found = record;
  while (clang_Cursor_isAnonymousRecordDecl(record)) {
    record = clang_getCursorSemanticParent(record);
    if (clang_getCursorKind(record) == CXCursor_UnionDecl) found = record;
  }
  return found;
}
bool is_in_union(CXCursor field) { return clang_getCursorKind(record_of(field)) == CXCursor_UnionDecl; }

// The member that a designated initializer (.x = value) names; of several (.u.x) the last, or that of
// a union. Null for a plain value.
CXCursor designated(CXCursor c, CXCursor& value) {
  value = c;
  CXCursor found = clang_getNullCursor();
  if (clang_getCursorKind(c) != CXCursor_UnexposedExpr) return found;
  const Cursors parts = children(c);
  if (parts.size() < 2 || clang_getCursorKind(parts[0]) != CXCursor_MemberRef) return found;
  value = parts.back();
  for (const CXCursor part : parts) {
    const bool settled = !clang_Cursor_isNull(found) && is_in_union(found);
    if (clang_getCursorKind(part) == CXCursor_MemberRef && !settled) found = clang_getCursorReferenced(part);
  }
  return found;
}

}  // namespace

FunctionId Lowering::function(CXCursor definition) {
  const auto [at, fresh] = function_ids_.try_emplace(definition, static_cast<FunctionId>(functions_.size()));
  if (fresh) functions_.push_back({definition, std::nullopt});
  return at->second;
}

const Function& Lowering::body(FunctionId id) {
  Lowered& lowered = functions_[id];  // stays where it is: a deque that only grows
  if (lowered.function) return *lowered.function;
  lowered.function.emplace();
  const int n = clang_Cursor_getNumArguments(lowered.definition);
  for (int i = 0; i < n; ++i)
    lowered.function->parameters.push_back(
        variable(clang_Cursor_getArgument(lowered.definition, static_cast<unsigned>(i))));
  for (const CXCursor c : children(lowered.definition))
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt) lowered.function->body = lower(c);
  return *lowered.function;
}

VariableId Lowering::variable(CXCursor declaration) {
  declaration = clang_getCanonicalCursor(declaration);
  const auto [at, fresh] = variable_ids_.try_emplace(declaration, static_cast<VariableId>(variables_.size()));
  if (fresh) {
    const CXType t = type_of(declaration);
    lost_pointers_ |= is_lost_pointer(declaration);
    variables_.push_back({types_.carries(t), types_.is_record(t), outlives_launch(declaration)});
  }
  return at->second;
}

// Members of a union share one id: what is stored in one may be read from another.
FieldId Lowering::field_id(CXCursor declaration) {
  const CXCursor parent = record_of(declaration);
  const bool in_union = is_in_union(declaration) && types_.carries(type_of(parent));
  if (in_union) declaration = parent;
  const FieldId fresh = static_cast<FieldId>(field_ids_.size() + 1) | (in_union ? UnionField : 0);
  return field_ids_.try_emplace(declaration, fresh).first->second;
}

Expr Lowering::made(CXCursor c, Op op) {
  Expr e;
  e.op = op;
  const CXType t = type_of(c);
  lost_pointers_ |= is_array(t) && is_lost_pointer(c);
  e.carries = types_.carries(t);
  e.record = types_.is_record(t);
  return e;
}

Expr Lowering::parts(CXCursor c) {
  Expr e = made(c, Op::Parts);
  for (const CXCursor part : children(c)) e.parts.push_back(lower(part));
  return e;
}

Expr Lowering::lower(CXCursor c) {
  c = strip_parens(c);
  CXCursor base;
  switch (place_of(c, base)) {
    case Place::None:
      return other(c);
    case Place::Variable: {
      Expr e = made(c, Op::Variable);
      e.id = variable(clang_getCursorReferenced(c));
      return e;
    }
    case Place::Subscript:
    case Place::Deref:
      return place(c, base, Op::Deref);
    case Place::Arrow: {
      Expr whole = made(c, Op::Deref);
      whole.parts.push_back(lower(base));
      return member(c, std::move(whole));
    }
    case Place::Dot:
      return member(c, lower(base));
    case Place::ArrowElement: {
      Expr element = made(c, Op::Element);
      element.parts.push_back(made(c, Op::Deref));
      element.parts[0].parts.push_back(lower(base));
      return element;
    }
    case Place::DotElement:
      return place(c, base, Op::Element);
  }
  return other(c);
}

// `base` first, then what else is to be evaluated: an index.
Expr Lowering::place(CXCursor c, CXCursor base, Op op) {
  Expr e = made(c, op);
  e.parts.push_back(lower(base));
  for (const CXCursor part : children(c))
    if (!clang_equalCursors(part, base)) e.parts.push_back(lower(part));
  return e;
}

Expr Lowering::member(CXCursor c, Expr base) {
  Expr e = made(c, Op::Member);
  e.id = field_id(clang_getCursorReferenced(c));
  e.parts.push_back(std::move(base));
  return e;
}

Expr Lowering::other(CXCursor c) {
  const Cursors inner = children(c);
  switch (clang_getCursorKind(c)) {
    case CXCursor_CallExpr:
      return call(c);
    case CXCursor_UnaryExpr:
      return made(c, Op::Parts);  // sizeof and the like do not evaluate
    case CXCursor_CompoundAssignOperator: {
      Expr e = parts(c);
      e.op = Op::Update;
      return e;
    }
    case CXCursor_BinaryOperator: {
      // An operand that is a place, not a value read from one: only assignments (and commas) have
      // that on their left.
      Expr e = parts(c);
      if (e.parts.size() == 2 && is_place(e.parts[0].op)) e.op = Op::Assign;
      return e;
    }
    case CXCursor_UnaryOperator:
      return inner.size() == 1 ? unary(c, inner[0]) : parts(c);
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr: {
      size_t expressions = 0;
      for (const CXCursor part : inner) expressions += is_expression(part);
      return expressions == 1 && is_expression(inner.back()) ? cast(c, inner.back()) : parts(c);
    }
    case CXCursor_VarDecl:
      return declaration(c);
    case CXCursor_InitListExpr:
      return list(c);
    case CXCursor_StmtExpr:
      return statements(c);
    case CXCursor_ReturnStmt: {
      Expr e = parts(c);
      e.op = Op::Return;
      return e;
    }
    case CXCursor_BlockExpr: {
      Expr e = parts(c);
      e.carries = false;  // what it captures is followed in its body
      return e;
    }
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt: {
      Expr e = parts(c);
      e.op = Op::Asm;
      return e;
    }
    default:
      return parts(c);
  }
}

Expr Lowering::unary(CXCursor c, CXCursor operand) {
  const CXType t = type_of(c), of = type_of(operand);
  Expr e = made(c, Op::Parts);
  e.parts.push_back(lower(operand));
  const bool of_parameter = is_array(shown_type(operand)) && is_pointer(shown_type(c));  // written as an array
  const bool address = is_pointer(t) && (!is_pointer(of) || same(pointee(t), of) || of_parameter);
  if (address) {
    e.op = Op::Address;
  } else if (is_place(e.parts[0].op)) {
    e.op = Op::Update;  // ++, --; not - ! ~, whose operand is a value
  }
  return e;
}

Expr Lowering::cast(CXCursor c, CXCursor from) {
  const CXType was = type_of(from), is = type_of(c);
  Expr e = made(c, Op::Parts);
  e.parts.push_back(lower(from));
  if (is_function(was)) return e;
  if (is_array(was) && is_pointer(is)) {
    e.op = Op::Address;
  } else if (e.carries && !types_.carries(was)) {
    if (!is_zero(from)) e.op = Op::FromNumber;
  } else if (!e.carries && types_.carries(was)) {
    if (is.kind != CXType_Void && is.kind != CXType_Bool && !is_place(e.parts[0].op)) e.op = Op::ToNumber;
  }
  if (!is_pointer(was) || !is_pointer(is)) return e;
  const Change change = types_.change(pointee(was), pointee(is));
  if (change == Change::Members) e.op = Op::Reshape;
  if (change == Change::Addresses) e.op = Op::Expose;
  return e;
}

Expr Lowering::call(CXCursor c) {
  Expr e = made(c, Op::Foreign);
  const CXCursor callee = clang_getCursorReferenced(c);
  const int n = clang_Cursor_getNumArguments(c);
  if (clang_getCursorKind(callee) != CXCursor_FunctionDecl || n < 0) {
    e.op = Op::CallBlock;
    for (const CXCursor part : children(c)) e.parts.push_back(lower(part));
    return e;
  }
  const CXCursor definition = clang_getCursorDefinition(callee);
  if (!clang_Cursor_isNull(definition)) {
    e.op = Op::Call;
    e.id = function(definition);
  } else if (!declared_.contains(clang_getCanonicalCursor(callee))) {
    // What is loaded from memory is an address from there, not the one it was loaded from.
    const bool loads = e.carries && take(clang_getCursorSpelling(callee)).find("load") != std::string::npos;
    e.op = loads ? Op::Foreign : Op::Builtin;
  }
  for (int i = 0; i < n; ++i) {
    const unsigned index = static_cast<unsigned>(i);
    e.parts.push_back(lower(clang_Cursor_getArgument(c, index)));
    if (e.op == Op::Builtin) e.access.push_back(builtin_argument(callee, index));
  }
  return e;
}

Expr Lowering::declaration(CXCursor c) {
  Expr e = made(c, Op::Declare);
  e.id = variable(c);
  for (const CXCursor part : children(c))
    if (is_expression(part)) e.parts.push_back(lower(part));
  return e;
}

// Values for the members of a struct, in their order or by name. Where braces are left out, a value
// may go to any member.
Expr Lowering::list(CXCursor c) {
  const CXType t = type_of(c);
  Expr e = made(c, Op::Parts);
  const bool by_member = t.kind == CXType_Record && e.carries;
  const Cursors fields = by_member ? fields_of(t) : Cursors();
  size_t next = 0;
  bool braces = true;
  for (const CXCursor part : children(c)) {
    CXCursor value;
    CXCursor field = designated(part, value);
    if (by_member && clang_Cursor_isNull(field) && next < fields.size()) field = fields[next];
    const auto at =
        std::find_if(fields.begin(), fields.end(), [&](CXCursor f) { return clang_equalCursors(f, field) != 0; });
    Expr one = made(c, Op::Initialize);
    one.record = false;
    one.parts.push_back(lower(value));
    const bool known = at != fields.end();
    if (known) {
      const CXType wanted = type_of(*at);
      const bool whole = clang_getCursorKind(value) == CXCursor_InitListExpr || types_.is_record(type_of(value));
      braces = braces && (whole || !(types_.is_record(wanted) || is_array(wanted)));
      next = static_cast<size_t>(at - fields.begin()) + 1;
    }
    one.id = known && braces ? field_id(*at) : AnyField;
    e.parts.push_back(by_member ? std::move(one) : std::move(one.parts[0]));
  }
  return e;
}

// ({ ...; value; })
Expr Lowering::statements(CXCursor c) {
  Expr e = parts(c);
  for (Expr& compound : e.parts) {
    compound.carries = e.carries;
    compound.record = e.record;
  }
  return e;
}

}  // namespace gt::kernels
