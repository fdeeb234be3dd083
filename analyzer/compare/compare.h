// Several traces side by side: what belongs together in them, and what differs.
//
// Places in code belong together by build-id and offset; where the traces are of different builds of a module, by
// function and file. Times never count as a difference of structure: two runs of one program are the same.
// Thread safety: values and pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/calls/trip_counts.h"
#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// One trace, analysed.
struct Input {
  std::string file;
  Analysis analysis;
  std::vector<LoopTrips> loops;
  model::Profile profile;
};

// One thing and what each input says of it; null where the input does not have it.
template <class T>
struct Row {
  std::string name;
  std::vector<const T*> in;
};

// Points into the inputs.
struct Comparison {
  std::vector<Row<TransferSource>> sources;
  std::vector<Row<KernelFacts>> kernels;
  std::vector<Row<LoopTrips>> loops;
  std::vector<Row<Finding>> findings;
};
Comparison compare(std::span<const Input> inputs);

struct Difference {
  std::string about;                // "ratio", "eligible", "remote", "site", "kernel", "loop", "finding"
  std::string name;                 // of the site, kernel, ...
  std::string aspect;               // "transfers", "allocated", ...; "" for being there at all
  std::vector<std::string> values;  // for each input; "" where it does not have it
  bool structural = true;           // false: follows from times
};
std::vector<Difference> find_differences(std::span<const Input> inputs, const Comparison& c);

bool same_structure(const std::vector<Difference>& differences);

}  // namespace gt::analyzer
