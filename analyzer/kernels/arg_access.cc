// The walk over a function's body.
#include "analyzer/kernels/arg_access.h"

#include <algorithm>

#include "analyzer/kernels/builtins.h"

namespace gt::kernels {
namespace {

constexpr unsigned Reads = 1, Writes = 2, Both = 3, Nothing = 0;

Roots root_of_parameter(size_t index) { return index < 60 ? Roots{1} << index : UnknownRoot; }

bool is_literal(CXCursor c) {
  c = strip_parens(c);
  const auto kind = clang_getCursorKind(c);
  if (kind == CXCursor_IntegerLiteral) return true;
  if (kind != CXCursor_UnexposedExpr && kind != CXCursor_CStyleCastExpr) return false;
  const Cursors parts = children(c);
  return !parts.empty() && is_literal(parts.back());
}

}  // namespace

class BodyWalk {
 public:
  BodyWalk(ArgAccess& all, CXCursor function, Summary& out) : x_all(all), x_out(out) {
    const int n = clang_Cursor_getNumArguments(function);
    for (int i = 0; i < n; ++i) {
      const CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
      x_roots[parameter] = root_of_parameter(static_cast<size_t>(i));
    }
    x_out.access.assign(static_cast<size_t>(std::max(n, 0)), Nothing);
    for (const CXCursor c : children(function))
      if (clang_getCursorKind(c) == CXCursor_CompoundStmt) x_body = c;
  }

  void run() {
    do {
      x_changed = false;
      walk(x_body, Reads);
    } while (x_changed);
  }

 private:
  template <class T>
  void add(T& set, T more) {
    if ((set | more) == set) return;
    set |= more;
    x_changed = true;
  }

  void access(Roots roots, unsigned how) {
    if (how == Nothing) return;
    for (size_t i = 0; i < x_out.access.size(); ++i)
      if (roots & root_of_parameter(i) & ~UnknownRoot) add(x_out.access[i], how);
    if (roots & UnknownRoot) add(x_out.unknown, how);
  }

  // --- Roots ---

  Roots roots_of_variable(CXCursor variable) {
    const auto known = x_roots.find(variable);
    if (known != x_roots.end()) return known->second;
    const auto scope = clang_getCursorKind(clang_getCursorSemanticParent(variable));
    const bool program_scope = scope == CXCursor_TranslationUnit;
    return program_scope && carries_pointer(type_of(variable)) ? UnknownRoot : 0;
  }

  // Of the memory that a place lies in.
  Roots roots_of_storage(CXCursor c) {
    c = strip_parens(c);
    CXCursor base;
    switch (place_of(c, base)) {
      case Place::None:
        return roots_of_parts(c);
      case Place::Variable:
        return roots_of_variable(clang_getCursorReferenced(c));
      case Place::Dot:
      case Place::DotElement:
        return roots_of_storage(base);
      default:
        return roots(base);
    }
  }

  Roots roots_of_parts(CXCursor c) {
    Roots all = 0;
    for (const CXCursor part : children(c)) all |= roots(part);
    return all;
  }

  // Of a pointer that was loaded from a place.
  Roots roots_of_load(CXCursor c, Place place, CXCursor base) {
    if (place == Place::Variable) return roots_of_variable(clang_getCursorReferenced(c));
    if (!through_pointer(place)) return roots_of_storage(base);
    const unsigned space = space_of(pointee(type_of(base)));
    const bool own = space == SpacePrivate || space == SpaceDefault;
    return roots(base) | (own ? 0 : UnknownRoot);
  }

  Roots roots(CXCursor c) {
    c = strip_parens(c);
    if (!carries_pointer(type_of(c))) return 0;
    CXCursor base;
    const Place place = place_of(c, base);
    if (place != Place::None) return roots_of_load(c, place, base);
    const Cursors parts = children(c);
    switch (clang_getCursorKind(c)) {
      case CXCursor_CallExpr:
        return roots_of_call(c);
      case CXCursor_UnaryOperator:  // & or ++
        return parts.empty() ? 0 : roots_of_storage(parts[0]);
      case CXCursor_UnexposedExpr:
      case CXCursor_CStyleCastExpr:
        return parts.empty() ? 0 : roots_of_cast(parts.back());
      default:
        return roots_of_parts(c);
    }
  }

  Roots roots_of_cast(CXCursor from) {
    const CXType t = type_of(from);
    if (is_array(t)) return roots_of_storage(from);
    if (carries_pointer(t)) return roots(from);
    return is_literal(from) || t.kind == CXType_FunctionProto ? 0 : UnknownRoot;
  }

  Roots roots_of_call(CXCursor call) {
    Roots all = 0;
    const CXCursor callee = definition_of(call);
    const bool known = !clang_Cursor_isNull(callee);
    const Summary* s = known ? &x_all.summary(callee) : nullptr;
    if (s && (s->returned & UnknownRoot || !s->complete)) all |= UnknownRoot;
    if (!s && !is_builtin(call)) all |= UnknownRoot;
    const int n = clang_Cursor_getNumArguments(call);
    for (int i = 0; i < n; ++i) {
      const bool returned =
          !s || !s->complete || (s->returned & root_of_parameter(static_cast<size_t>(i)));
      if (returned) all |= roots(clang_Cursor_getArgument(call, static_cast<unsigned>(i)));
    }
    return all;
  }

  // --- Calls ---

  static CXCursor definition_of(CXCursor call) {
    const CXCursor callee = clang_getCursorReferenced(call);
    if (clang_getCursorKind(callee) != CXCursor_FunctionDecl) return clang_getNullCursor();
    return clang_getCursorDefinition(callee);
  }
  bool is_builtin(CXCursor call) const {
    const CXCursor callee = clang_getCursorReferenced(call);
    return clang_getCursorKind(callee) == CXCursor_FunctionDecl &&
           !x_all.x_declared.contains(clang_getCanonicalCursor(callee));
  }

  static unsigned builtin_argument(CXCursor callee, unsigned i) {
    const CXCursor parameter = clang_Cursor_getArgument(callee, i);
    const CXType t = clang_Cursor_isNull(parameter)
                         ? clang_getCanonicalType(clang_getArgType(clang_getCursorType(callee), i))
                         : type_of(parameter);
    const bool to_const = is_pointer(t) && clang_isConstQualifiedType(pointee(t));
    return static_cast<unsigned>(
        builtin_access(take(clang_getCursorSpelling(callee)), i, to_const));
  }

  void walk_call(CXCursor call) {
    const int n = clang_Cursor_getNumArguments(call);
    const CXCursor callee = definition_of(call);
    const bool defined = !clang_Cursor_isNull(callee);
    const Summary* s = defined ? &x_all.summary(callee) : nullptr;
    if (s) add(x_out.unknown, s->complete ? s->unknown : Both);
    for (int i = 0; i < n; ++i) {
      const unsigned index = static_cast<unsigned>(i);
      const CXCursor arg = clang_Cursor_getArgument(call, index);
      walk(arg, Reads);
      unsigned how = Both;
      if (s && s->complete && index < s->access.size()) {
        how = s->access[index];
      } else if (!s && is_builtin(call)) {
        how = builtin_argument(clang_getCursorReferenced(call), index);
      }
      access(roots(arg), how);
    }
    if (n < 0) walk_parts(call);
  }

  // --- Places ---

  // `how`: what is done to the place that `c` names; for other expressions it does not matter.
  void walk(CXCursor c, unsigned how) {
    c = strip_parens(c);
    CXCursor base;
    const Place place = place_of(c, base);
    if (place == Place::Variable) return use_variable(c);
    if (place == Place::None) return walk_other(c);
    if (through_pointer(place)) {
      const unsigned space = space_of(pointee(type_of(base)));
      if (space != SpacePrivate) access(roots(base), how);
      walk_parts(c);
    } else {
      walk(base, how);
      if (clang_getCursorKind(c) == CXCursor_ArraySubscriptExpr) walk_parts(c);
    }
  }

  void walk_parts(CXCursor c) {
    for (const CXCursor part : children(c)) walk(part, Reads);
  }

  void use_variable(CXCursor c) {
    if (x_block > 0) access(roots_of_variable(clang_getCursorReferenced(c)), Both);
  }

  static bool is_place(CXCursor c) {
    CXCursor base;
    return place_of(strip_parens(c), base) != Place::None;
  }

  void walk_other(CXCursor c) {
    const Cursors parts = children(c);
    switch (clang_getCursorKind(c)) {
      case CXCursor_CallExpr:
        return walk_call(c);
      case CXCursor_UnaryExpr:
        return;  // sizeof and the like do not evaluate
      case CXCursor_BinaryOperator:
        return parts.size() == 2 ? walk_binary(parts[0], parts[1]) : walk_parts(c);
      case CXCursor_CompoundAssignOperator:
        if (parts.size() != 2) return walk_parts(c);
        walk(parts[0], Both);
        return walk(parts[1], Reads);
      case CXCursor_UnaryOperator:
        return parts.size() == 1 ? walk_unary(c, parts[0]) : walk_parts(c);
      case CXCursor_UnexposedExpr:
      case CXCursor_CStyleCastExpr:
        return walk_cast(c, parts);
      case CXCursor_VarDecl:
        return walk_variable(c, parts);
      case CXCursor_ReturnStmt:
        if (!parts.empty()) add(x_out.returned, roots(parts[0]));
        return walk_parts(c);
      case CXCursor_BlockExpr:
        ++x_block;
        walk_parts(c);
        --x_block;
        return;
      case CXCursor_GCCAsmStmt:
      case CXCursor_MSAsmStmt:
        access(~Roots{0}, Both);
        return walk_parts(c);
      default:
        return walk_parts(c);
    }
  }

  // An operand that is a place, not a value read from one: only assignments (and commas) have that
  // on their left.
  void walk_binary(CXCursor left, CXCursor right) {
    walk(left, is_place(left) ? Writes : Reads);
    walk(right, Reads);
    if (is_place(left)) store(left, roots(right));
  }

  void walk_unary(CXCursor c, CXCursor operand) {
    const CXType t = type_of(c);
    const bool address = is_pointer(t) && !is_pointer(type_of(operand));
    const bool address_of_pointer = is_pointer(t) && same(pointee(t), type_of(operand));
    if (address || address_of_pointer) return walk(operand, Nothing);
    walk(operand, is_place(operand) ? Both : Reads);  // ++, --; or - ! ~ of a value
  }

  void walk_cast(CXCursor c, const Cursors& parts) {
    const CXType to = type_of(c);
    for (const CXCursor part : parts) {
      const CXType from = type_of(part);
      walk(part, is_array(from) && is_pointer(to) ? Nothing : Reads);
      const bool leaves = carries_pointer(from) && !carries_pointer(to) && to.kind != CXType_Void &&
                          to.kind != CXType_Bool;
      if (leaves && !is_place(part)) access(roots(part), Both);
    }
  }

  void walk_variable(CXCursor variable, const Cursors& parts) {
    walk_parts(variable);
    if (!carries_pointer(type_of(variable))) return;
    Roots all = 0;
    for (const CXCursor part : parts)
      if (clang_isExpression(clang_getCursorKind(part))) all |= roots(part);
    add(x_roots[variable], all);
  }

  // The local variable whose own memory `place` is a part of, or null.
  static CXCursor variable_of(CXCursor place) {
    place = strip_parens(place);
    CXCursor base;
    switch (place_of(place, base)) {
      case Place::Variable:
        return clang_getCursorReferenced(place);
      case Place::Dot:
        return variable_of(base);
      case Place::Subscript: {
        const Cursors parts = children(strip_parens(base));
        const bool array = parts.size() == 1 && is_array(type_of(parts[0]));
        return array ? variable_of(parts[0]) : clang_getNullCursor();
      }
      default:
        return clang_getNullCursor();
    }
  }

  void store(CXCursor place, Roots value) {
    if (value == 0) return;
    const CXCursor variable = variable_of(place);
    const bool local =
        !clang_Cursor_isNull(variable) &&
        clang_getCursorKind(clang_getCursorSemanticParent(variable)) != CXCursor_TranslationUnit;
    if (local) {
      add(x_roots[variable], value);
    } else {
      access(value, Both);
    }
  }

  ArgAccess& x_all;
  Summary& x_out;
  CXCursor x_body = clang_getNullCursor();
  std::unordered_map<CXCursor, Roots, CursorHash, CursorEqual> x_roots;
  bool x_changed = false;
  int x_block = 0;  // depth of blocks around the present expression
};

const Summary& ArgAccess::summary(CXCursor function) {
  const auto known = x_summaries.find(function);
  if (known != x_summaries.end()) return known->second;
  Summary& out = x_summaries[function];  // references stay valid: the map is node-based
  BodyWalk(*this, function, out).run();
  out.complete = true;
  return out;
}

}  // namespace gt::kernels
