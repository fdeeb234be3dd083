// Which programs the kernels of a class were made from, beyond what its row in Trace::kernels says.
//
// A class is a place in code and a name, so a program that is built in a loop, each time with other
// options, has one class for kernels of several programs. And a program made from SPIR-V or a binary
// has no source, only what the driver said of its kernels' arguments. Both are kept as facts, which
// older readers pass over:
//   kernel.programs      how many different (class, program) there are: the recording kept track
//   kernel.CLASS.program the blobs of source and options (-1: none), then those of what the program
//                        was made from in SPIR-V (several: linked), and a line for each argument
//                        that the driver described: address space, access, type qualifiers, type,
//                        name, with tabs between. Once for each program of the class.
// Thread safety: values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

struct KernelOrigin {
  BlobId source = NoIndex, options = NoIndex;
  std::string declared;  // the lines; empty when nobody was asked, or the driver did not know
  std::vector<BlobId> modules = {};  // SPIR-V
  bool operator==(const KernelOrigin&) const = default;
};
using KernelOrigins = std::map<ClassId, std::vector<KernelOrigin>>;

// A class has at most so many; one more without source and arguments stands for the rest.
constexpr size_t MostOrigins = 64;
constexpr size_t MostModules = 64;  // of a program, that are kept track of
void add_origin(std::vector<KernelOrigin>& origins, KernelOrigin origin);

void add_origin_facts(Trace& trace, const KernelOrigins& origins);

// Of every kernel class. `complete` is false for recordings that kept track of the first program
// only: a class may then stand for others, too.
KernelOrigins read_origins(const Trace& trace, bool& complete);

struct DeclaredArg {
  std::string address, access, qualifiers, type, name;
};
std::vector<DeclaredArg> parse_declared(std::string_view lines);

}  // namespace gt::model
