// libclang's cursors and types, as the analysis of arguments wants to see them.
//
// libclang does not tell which operator an expression has, nor which implicit conversion an
// UnexposedExpr is. Both follow from types: in C a value read from memory loses the qualifiers of
// its place, an assigned place keeps them. Thread safety: as libclang: one translation unit, one
// thread.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gt::kernels {

using Cursors = std::vector<CXCursor>;

struct CursorHash {
  size_t operator()(const CXCursor& c) const { return clang_hashCursor(c); }
};
struct CursorEqual {
  bool operator()(const CXCursor& a, const CXCursor& b) const { return clang_equalCursors(a, b) != 0; }
};
using CursorSet = std::unordered_set<CXCursor, CursorHash, CursorEqual>;
template <class T>
using CursorMap = std::unordered_map<CXCursor, T, CursorHash, CursorEqual>;

std::string take(CXString text);
Cursors children(CXCursor c);
// The canonical type. Of a parameter that is written as an array, and of what is made of it, the pointer that it is
// (libclang gives the array); an array only when that pointer is not found: see is_lost_pointer().
CXType type_of(CXCursor c);
// As libclang shows it: a pointer that is written as an array is one here.
CXType shown_type(CXCursor c);
// A pointer that libclang shows as an array, and of which no more is known.
bool is_lost_pointer(CXCursor c);
inline CXType pointee(CXType t) { return clang_getCanonicalType(clang_getPointeeType(t)); }
inline bool same(CXType a, CXType b) { return clang_equalTypes(a, b) != 0; }

// clang's LangAS numbers.
enum LangSpace : unsigned {
  SpaceDefault = 0,
  SpaceGlobal = 1,
  SpaceLocal = 2,
  SpaceConstant = 3,
  SpacePrivate = 4,
  SpaceGeneric = 5,
};
unsigned space_of(CXType t);  // SpaceDefault for invalid types too

bool is_pointer(CXType t);
bool is_image(CXType t);
bool is_array(CXType t);
bool is_vector(CXType t);
CXType without_arrays(CXType t);  // of `int[2][3]`: int
CXCursor strip_parens(CXCursor c);

// What an expression does, when it is a place in memory.
enum class Place { None, Variable, Subscript, Deref, Arrow, Dot, ArrowElement, DotElement };
// The kind of place that `c` names, and its base in `base`. REQUIRES: no ParenExpr on top.
Place place_of(CXCursor c, CXCursor& base);

}  // namespace gt::kernels
