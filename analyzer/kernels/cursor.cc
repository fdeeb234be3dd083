// Questions about cursors and types.
#include "analyzer/kernels/cursor.h"

namespace gt::kernels {
namespace {

CXChildVisitResult collect(CXCursor c, CXCursor, CXClientData out) {
  static_cast<Cursors*>(out)->push_back(c);
  return CXChildVisit_Continue;
}

Place place_of_unexposed(CXCursor c, CXCursor& base) {
  const Cursors parts = children(c);
  if (parts.size() != 1) return Place::None;
  base = parts[0];
  const CXType own = type_of(c), inner = type_of(base);
  if (is_pointer(own)) return Place::None;
  if (is_pointer(
          inner)) {  // p->xy; a pointer never turns into a number here, but into a truth value
    return is_vector(pointee(inner)) && own.kind != CXType_Bool ? Place::ArrowElement : Place::None;
  }
  // v.xy keeps the address space of v; reading a value drops it.
  return is_vector(inner) && space_of(own) != SpaceDefault ? Place::DotElement : Place::None;
}

Place place_of_subscript(CXCursor c, CXCursor& base) {
  for (const CXCursor part : children(c)) {
    base = part;
    if (is_pointer(type_of(part))) return Place::Subscript;
    if (is_vector(type_of(part))) return Place::DotElement;
  }
  return Place::None;
}

// The pointer that a parameter written as an array is, by the type of its function; else the array.
CXType type_of_parameter(CXCursor parameter, CXType array) {
  const CXCursor function = clang_getCursorSemanticParent(parameter);
  const int n = clang_Cursor_getNumArguments(function);
  for (int i = 0; i < n; ++i) {
    const auto index = static_cast<unsigned>(i);
    if (!clang_equalCursors(clang_Cursor_getArgument(function, index), parameter)) continue;
    const CXType all = clang_getCanonicalType(clang_getCursorType(function));
    return clang_getCanonicalType(clang_getArgType(all, index));
  }
  return array;
}

// Expressions that have a pointer for a value when libclang shows an array: whatever is no place in memory.
bool makes_value(CXCursorKind kind) {
  return kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || kind == CXCursor_BinaryOperator ||
         kind == CXCursor_CompoundAssignOperator || kind == CXCursor_ConditionalOperator ||
         kind == CXCursor_UnaryOperator || kind == CXCursor_CStyleCastExpr || kind == CXCursor_StmtExpr;
}

// The pointer that the expression is made of: the last of its parts that is one (of n ? p : q, and of p, q). Where a
// pointer to it is followed (*&p), what that points to: an array, when it is one.
CXType type_of_value(CXCursor c, CXType array) {
  CXType found = array;
  for (const CXCursor part : children(c)) {
    const CXType t = type_of(part);
    if (!is_pointer(t)) continue;
    const bool follows = clang_getCursorKind(c) == CXCursor_UnaryOperator && is_pointer(shown_type(part));
    found = follows ? pointee(t) : t;
  }
  return found;
}

}  // namespace

CXType shown_type(CXCursor c) { return clang_getCanonicalType(clang_getCursorType(c)); }

CXType type_of(CXCursor c) {
  const CXType t = shown_type(c);
  if (!is_array(t)) return t;
  const CXCursorKind kind = clang_getCursorKind(c);
  if (kind == CXCursor_ParmDecl) return type_of_parameter(c, t);
  if (makes_value(kind)) return type_of_value(c, t);
  if (kind != CXCursor_DeclRefExpr) return t;
  const CXCursor declaration = clang_getCursorReferenced(c);
  return clang_getCursorKind(declaration) == CXCursor_ParmDecl ? type_of(declaration) : t;
}

bool is_lost_pointer(CXCursor c) {
  if (!is_array(type_of(c))) return false;
  const CXCursorKind kind = clang_getCursorKind(c);
  const Cursors parts = children(c);
  if (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr)  // an array, where that is in it
    return parts.size() != 1 || !is_array(type_of(parts[0]));
  const bool follows = kind == CXCursor_UnaryOperator && parts.size() == 1 && is_pointer(type_of(parts[0]));
  return kind == CXCursor_ParmDecl || (makes_value(kind) && !follows);
}

std::string take(CXString text) {
  const char* s = clang_getCString(text);
  std::string out = s ? s : "";
  clang_disposeString(text);
  return out;
}

Cursors children(CXCursor c) {
  Cursors out;
  clang_visitChildren(c, collect, &out);
  return out;
}

unsigned space_of(CXType t) {
  return t.kind == CXType_Invalid ? unsigned{SpaceDefault} : clang_getAddressSpace(t);
}

bool is_pointer(CXType t) { return t.kind == CXType_Pointer; }
bool is_image(CXType t) {
  return t.kind >= CXType_OCLImage1dRO && t.kind <= CXType_OCLImage2dArrayMSAADepthRW;
}
bool is_array(CXType t) {
  return t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray ||
         t.kind == CXType_VariableArray || t.kind == CXType_DependentSizedArray;
}
bool is_vector(CXType t) { return t.kind == CXType_Vector || t.kind == CXType_ExtVector; }

CXType without_arrays(CXType t) {
  while (is_array(t)) t = clang_getCanonicalType(clang_getArrayElementType(t));
  return t;
}

CXCursor strip_parens(CXCursor c) {
  while (clang_getCursorKind(c) == CXCursor_ParenExpr) {
    const Cursors parts = children(c);
    if (parts.size() != 1) break;
    c = parts[0];
  }
  return c;
}

Place place_of(CXCursor c, CXCursor& base) {
  base = c;
  switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr: {
      const auto kind = clang_getCursorKind(clang_getCursorReferenced(c));
      return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ? Place::Variable : Place::None;
    }
    case CXCursor_ArraySubscriptExpr:
      return place_of_subscript(c, base);
    case CXCursor_MemberRefExpr: {
      const Cursors parts = children(c);
      if (parts.empty()) return Place::None;
      base = parts[0];
      return is_pointer(type_of(base)) ? Place::Arrow : Place::Dot;
    }
    case CXCursor_UnaryOperator: {
      const Cursors parts = children(c);
      if (parts.size() != 1 || !is_pointer(type_of(parts[0]))) return Place::None;
      base = parts[0];
      return same(pointee(type_of(base)), type_of(c)) ? Place::Deref : Place::None;
    }
    case CXCursor_UnexposedExpr:
      return place_of_unexposed(c, base);
    default:
      return Place::None;
  }
}

}  // namespace gt::kernels
