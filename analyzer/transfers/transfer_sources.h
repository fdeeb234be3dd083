// Where the data of host-device transfers comes from and goes to: the calls that made the memory, and memory that no
// call made.
//
// Margiolas & O'Boyle, section 4: a transfer names a segment, the segment's first version the call that made it. Here
// a transfer's shape names the class of its memory, and that class names the creating call: so the table is a sum over
// shapes. Memory that realloc returned was made by realloc; whose memory it grew from is kept beside it.
// Cost: O(shapes), whatever the length of the run.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/code/call_site.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

struct TransferSums {
  uint64_t transfers = 0;
  uint64_t h2d_bytes = 0, d2h_bytes = 0, h2d_count = 0, d2h_count = 0;
  uint64_t time_ns = 0;  // on the device clock where timed; else of the host call
  uint64_t untimed = 0;  // transfers of which only the host time is known
  model::Stats sizes;    // in bytes
  uint64_t bytes() const { return h2d_bytes + d2h_bytes; }
  // The calls of a shape, which moves data of `shares` memories, of each about as much.
  void add(model::Direction direction, const model::ShapeStats& stats, size_t shares);
};

struct Origin {  // a call that made memory
  CallSite site;
  std::string call;
};

struct TransferSource {
  // Memory that a call allocated: Segment, Svm, String. Memory that none did: Stack, Static, File, Unknown.
  // Mapping: a buffer or image, mapped by the program. Buffer, Image: one that was migrated.
  model::ObjectKind kind = model::ObjectKind::Unknown;
  CallSite site;             // of the call that made it; none for Stack, Static and Unknown
  std::string call;          // that function: "malloc", "mmap", "clCreateBuffer"; empty likewise
  std::string path;          // Static: the module; File: the file
  uint64_t allocations = 0;  // calls of that site, whether their memory was transferred or not
  model::Stats sizes;        // of those allocations, where they say how much
  TransferSums sums;
  uint64_t in_place_buffers = 0, in_place_bytes = 0;  // buffers that use this memory instead of their own
  uint64_t unlisted_below = 0;  // it may be a block of fewer bytes: such are not listed (gtrace run --no-memory-detail)
  bool on_host = false;                               // the devices work in the host's own memory
  std::vector<Origin> grown_from;                     // realloc made it, of memory that these calls had made

  bool allocated() const;      // by a call that returns host memory
  std::string name() const;    // "main (app.cc:12)", "the stack", "static data of app", ...
  std::string remedy() const;  // what can be done to make its transfers faster
  double transfers_each() const;
};

struct TransferSources {
  std::vector<TransferSource> list;  // largest time first
  // Of memory as MovedMemory tells it: its index in `list`.
  std::map<std::pair<model::ClassId, model::ObjectKind>, size_t> index;
};

// REQUIRES: a checked trace.
TransferSources find_transfer_sources(const model::Trace& trace, CallSites& sites);

}  // namespace gt::analyzer
