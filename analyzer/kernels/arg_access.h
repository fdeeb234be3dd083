// Which arguments a kernel's body reads and writes: an upper bound, by following pointers through
// the syntax tree.
//
// Every pointer-like variable has *roots*: the parameters from which its value may stem, whatever
// the order of assignments (flow-insensitive, iterated to a fixed point). An expression that reads
// or writes memory through a pointer reads or writes all of the pointer's roots. Helper functions
// are summarised once: what they do to each parameter, and which parameters they may return.
//   void add(global int* p) { *p += 1; }                            add: p read_write
//   kernel void k(global int* a, global int* b, int c) {
//     global int* q = c ? a : b; add(q + 1); }                      q has roots {a, b}: both
//     read_write
// What is not understood goes the safe way: a pointer that leaves sight (turned into a number,
// stored in memory) has both reads and writes at once; a pointer from nowhere (a number, a buffer's
// content, a global variable) is *unknown*, and accesses through it count for every argument.
// Thread safety: none.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/kernels/cursor.h"
#include "analyzer/kernels/kernel_source.h"

namespace gt::kernels {

using Roots = uint64_t;  // bit i: parameter i
constexpr Roots UnknownRoot = Roots{1} << 63;

struct CursorHash {
  size_t operator()(const CXCursor& c) const { return clang_hashCursor(c); }
};
struct CursorEqual {
  bool operator()(const CXCursor& a, const CXCursor& b) const {
    return clang_equalCursors(a, b) != 0;
  }
};

// What a function does, seen by its caller.
struct Summary {
  std::vector<unsigned> access;  // per parameter, bits of Access
  unsigned unknown = 0;          // through pointers that come from nowhere
  Roots returned = 0;
  bool complete = false;  // false while it is being worked out: only a recursive call sees that
};

using CursorSet = std::unordered_set<CXCursor, CursorHash, CursorEqual>;

class ArgAccess {
 public:
  // `declared`: the functions that the source itself declares (canonical cursors); others are built
  // in. (libclang gives built-in functions the place of their first use, so their place does not
  // tell.)
  explicit ArgAccess(CursorSet declared) : x_declared(std::move(declared)) {}

  // REQUIRES: a definition.
  const Summary& summary(CXCursor function);

 private:
  friend class BodyWalk;
  CursorSet x_declared;
  std::unordered_map<CXCursor, Summary, CursorHash, CursorEqual> x_summaries;
};

}  // namespace gt::kernels
