// The calls that move data between host and devices: each with what it moves, and through SSA with the segments that
// it names, their first versions, and so with the calls that made them.
//
// Worked example, as `gtrace show` prints it:
//   s0.1 = malloc          the first version of s0, made here
//   b0.2 = write(b0.1, s0.1)
//   s0.2 = read(b0.2, s0.1)
//   b0.3 = write(b0.2, s0.2)    names s0; its first version is s0.1; that is the malloc
//
// Margiolas & O'Boyle, section 4. Cost: that of SSA (traces/model/ssa/ssa.h).
#pragma once

#include <string>
#include <vector>

#include "analyzer/transfers/transfer_sources.h"

namespace gt::analyzer {

struct TransferCall {
  struct Segment {
    std::string name;           // as `gtrace show` names it: "s0", of a family "s3"
    std::string first_version;  // "s0.1"; empty: no call of the trace made it
    bool operator==(const Segment&) const = default;
  };
  std::string call;  // "clEnqueueWriteBuffer"
  CallSite site;
  model::Direction direction = model::Direction::None;
  bool command = true;            // false: a call that copies when it makes a buffer, so without a device time
  size_t source = 0;              // index of its memory in the list of sources
  std::vector<Segment> segments;  // of that memory, those that it names
  TransferSums sums;              // one direction only
};

// Most time first; a call that moves two sources' data is listed with each. REQUIRES: a checked trace; `sources` of it.
std::vector<TransferCall> find_transfer_calls(const model::Trace& trace, const TransferSources& sources,
                                              CallSites& sites);

}  // namespace gt::analyzer
