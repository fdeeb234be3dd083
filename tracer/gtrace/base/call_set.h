// A set of calls, as users write it: numbers, ranges and names, joined by commas.
//
//   17  100-200  100-  0-100/2      OpenCL calls by number, as gtrace expand counts them; every second of a range
//   m17  m100-200                   memory calls
//   clEnqueue*  malloc              functions by name; * and ? as in file names
//   @FILE                           what FILE says: one of the above a line
//
// Thread safety: constant after parse().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::tracer {

class CallSet {
 public:
  // Every call.
  CallSet() = default;
  // Invalid: a word that is none of the above. System: FILE cannot be read.
  static Result<CallSet> parse(std::string_view text);

  bool everything() const { return everything_; }
  bool has(bool memory, uint64_t number) const;
  bool has_name(std::string_view function) const;
  // Some call of [first, last] is in the set by its number.
  bool meets(bool memory, uint64_t first, uint64_t last) const;
  // The largest number in the set; UINT64_MAX when it has no end.
  uint64_t last(bool memory) const;
  bool names_anything() const { return everything_ || !names_.empty(); }

 private:
  struct Range {
    bool memory = false;
    uint64_t first = 0, last = 0, step = 1;
  };
  Status add(std::string_view word, bool in_file);
  Status add_file(const std::string& path);

  bool everything_ = true;
  std::vector<Range> ranges_;
  std::vector<std::string> names_;
};

// "1.5s", "200ms", "30us", "500ns", "2" (seconds) as ns. Invalid: anything else.
Result<uint64_t> parse_time(std::string_view text);

}  // namespace gt::tracer
