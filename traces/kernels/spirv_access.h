// What one kernel of a SPIR-V module does with the memory that its parameters lead to: an upper bound, by following
// addresses through its instructions and the functions that they call.
//
// Every value has the set of objects that it may point to, whatever the order of instructions (iterated to a fixed
// point). A function is followed once for each combination of what its arguments may point to.
//   %q = OpPhi %a, %b            q points to {a, b}
//   OpFunctionCall %add %q       add with p = {a, b}: loads and stores through p count for both
// Numbers that were made of addresses still point to what these did. What is not understood goes the safe way: an
// address that leaves sight (stored in memory that is not followed, given to a function that is not in the module)
// may come back as an address from nowhere; that leads to *unknown* memory, and an access to it counts for every
// parameter. Values of specialization constants decide nothing: the answer holds for all.
// Cost: some us for a small kernel; beyond the limit it gives up. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "traces/kernels/spirv_module.h"

namespace gt::spirv {

constexpr unsigned Reads = 1, Writes = 2, Both = 3;  // bits, as kernels::Access

struct KernelAccess {
  std::vector<unsigned> args;  // of the memory behind each parameter
  std::vector<bool> escapes;   // its address is where the analysis does not see it any more
  // Of memory behind addresses inside parameters that are passed by value: parameter, byte.
  std::map<std::pair<size_t, uint64_t>, unsigned> members;
  unsigned unknown = 0;  // through addresses from nowhere
  bool complete = true;  // false: given up, it takes too long; all is read and written then
};

// REQUIRES: a function of the module.
KernelAccess find_access(const Module& module, Id kernel, uint64_t most_steps);

}  // namespace gt::spirv
