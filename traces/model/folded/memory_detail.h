// Memory calls that are in no stream, because they were counted only (gtrace run --no-memory-detail): how many, by the
// place that makes them, the function, and the size of the block.
//
// Kept as facts, which older readers pass over:
//   memory_detail.from     blocks that hold so many bytes or more are listed. Absent: all were to be
//   memory_detail.counted  calls of smaller ones, in all
//   memory_detail.others   "CALLS BYTES" of those from more places than there was room for. Absent: none
//   memory_detail.whole    processes whose calls are all listed: their allocators do not tell sizes. Absent: none
//   counted.SITE.FUNCTION  a line "CLASS CALLS BYTES" for each size class. SITE: a row of sites; ?: not known
// Class 0: calls that ask for no bytes, such as free; class n: for 2^(n-1) bytes or more, below 2^n. Bytes: asked for.
// Thread safety: values.
#pragma once

#include <optional>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

struct CountedRow {
  SiteId site = NoIndex;
  FnId fn = 0;  // an allocation function
  unsigned size_class = 0;
  uint64_t calls = 0, bytes = 0;
  uint64_t size_from() const { return size_class == 0 ? 0 : uint64_t{1} << (size_class - 1); }
  bool operator==(const CountedRow&) const = default;
};

struct MemoryDetail {
  uint64_t from = 0;
  std::vector<CountedRow> rows;  // by site, then function, then size class
  uint64_t other_calls = 0, other_bytes = 0;
  uint64_t whole_processes = 0;
  uint64_t calls() const;  // with the others
};

void add_detail_facts(Trace& trace, const MemoryDetail& detail);

// Nothing: all calls were to be listed. Facts that make no sense are passed over.
std::optional<MemoryDetail> read_memory_detail(const Trace& trace);

// Is the fact a row of read_memory_detail(), which nobody wants to see as it is?
bool is_counted_row(std::string_view fact);

}  // namespace gt::model
