// The kernels of a trace: how often and how long they ran, and what they do with their arguments.
#pragma once

#include <string>
#include <vector>

#include "traces/kernels/kernel_args.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct KernelFacts {
  std::string name;
  uint64_t launches = 0;
  uint64_t time_ns = 0;            // on the device clock, of the launches that were timed
  // Programs have kernels of this name from one place, and which of them a launch runs is not known: all launches count
  // for the first of these.
  enum class Shared : uint8_t { No, First, Other } shared = Shared::No;
  bool exact = false;              // the accesses are known; else they are upper bounds
  std::vector<kernels::Arg> args;  // empty when the source is not known
  std::string note;                // why not exact
  kernels::Access elsewhere = kernels::Access::ReadWrite;  // of memory that no argument leads to
  bool others = false;  // its classes may also stand for kernels of programs that the trace does not name
  std::vector<model::ClassId> classes;  // the trace's kernels that these facts are of
  model::BlobId source = model::NoIndex, options = model::NoIndex;  // of its program; NoIndex: it has none
};

// Most time first. Cost: one child process for each program source, `budget_seconds` for all of
// them together.
std::vector<KernelFacts> find_kernels(const model::Trace& trace, unsigned budget_seconds = 60);

}  // namespace gt::analyzer
