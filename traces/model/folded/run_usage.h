// What the whole run of a program took of its machine, and how much of what it transferred was memory that nobody had
// touched before: its pages are made during the transfer.
//
// Kept as facts, which older readers pass over. Those of the run are absent in older traces, and where the program was
// not seen to end:
//   run.wall_ns, run.user_ns, run.system_ns      from before its start until it had ended; with the children that it
//   run.minor_faults, run.major_faults           waited for. User and system time are of all threads together
//   first_touch.page_ns                          a page of 4 KiB, measured when the program had ended
//   first_touch.huge_page_ns                     one of 2 MiB; absent where the system gives none to who asks
//   fresh.SHAPE     "BYTES FRESH": of the calls of a row of shapes that move 1 MiB or more from or to the program's
//                   memory, the bytes of that memory, and how many of them had no page when the call began
// Thread safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "traces/model/fold/event.h"

namespace gt::model {

constexpr uint64_t PageBytes = 4096, HugePageBytes = 2 << 20;

struct RunUsage {
  uint64_t wall_ns = 0, user_ns = 0, system_ns = 0;
  uint64_t minor_faults = 0, major_faults = 0;
  bool operator==(const RunUsage&) const = default;
};

struct TouchCosts {
  uint64_t page_ns = 0;                   // 0: not measured
  std::optional<uint64_t> huge_page_ns;  // nothing: the system gives none
  bool operator==(const TouchCosts&) const = default;
};

struct FreshBytes {
  uint64_t bytes = 0, fresh = 0;
  bool operator==(const FreshBytes&) const = default;
};

void add_run_facts(Trace& trace, const RunUsage& usage, const TouchCosts& costs);
void add_fresh_facts(Trace& trace, const std::map<ShapeId, FreshBytes>& fresh);

// Facts that make no sense are passed over.
std::optional<RunUsage> read_run_usage(const Trace& trace);
std::optional<TouchCosts> read_touch_costs(const Trace& trace);
std::map<ShapeId, FreshBytes> read_fresh(const Trace& trace);

// Is the fact a row of read_fresh(), which nobody wants to see as it is?
bool is_fresh_row(std::string_view fact);

}  // namespace gt::model
