// Which arguments a kernel reads and writes: an upper bound, by following addresses through its
// body and the functions that it calls.
//
// Every variable has the set of objects that its value may point to, whatever the order of
// assignments (flow-insensitive, iterated to a fixed point); a struct has one for each member. A
// function is followed once for each combination of what its arguments may point to.
//   void add(global int* p) { *p += 1; }
//   kernel void k(global int* a, global int* b, int c) {
//     global int* q = c ? a : b;      q points to {a, b}
//     add(q + 1); }                   add with p = {a, b}: both read_write
// What is not understood goes the safe way: an address that leaves sight (turned into a number, stored
// in a buffer, written byte by byte) comes back as an address from nowhere. That leads to *unknown*
// memory, and an access to unknown memory counts for every argument.
// Thread safety: none.
#pragma once

#include <vector>

#include "analyzer/kernels/lowering.h"

namespace gt::kernels {

struct KernelAccess {
  std::vector<unsigned> args;  // per parameter, bits of Access
  unsigned unknown = 0;        // through addresses from nowhere
  bool complete = true;        // false: given up, it took too long; all is read and written then
};

// REQUIRES: the definition of a kernel that `lowering` can see.
KernelAccess find_access(Lowering& lowering, CXCursor kernel);

}  // namespace gt::kernels
