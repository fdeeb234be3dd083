// The summary as sections of rows, each cell twice: for people, and exactly.
//
// Tables and CSV are two ways to print the same sections, so that neither says what the other does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracer/gtrace/stats/summary.h"
#include "tracer/gtrace/base/table.h"

namespace gt::tracer {

struct StatsCell {
  std::string text;   // "1.24 ms"
  std::string exact;  // "1240000"
};
struct StatsColumn {
  std::string title;  // "Time"
  std::string key;    // "total_ns"; "" when only people get it
  bool right = true;
  size_t least = 0;  // as Table::Column
};
struct StatsSection {
  std::string name;   // for --by: "function"
  std::string title;  // "Host time by function"
  std::vector<StatsColumn> columns;
  std::vector<std::vector<StatsCell>> rows;
  std::vector<StatsCell> total;  // empty: none makes sense
  bool whole = false;            // short by nature: --top does not cut it
};

constexpr std::string_view StatsSectionNames[] = {"function", "callback", "transfer", "kernel",
                                                  "allocation", "counted", "object", "device",
                                                  "recording"};

// In the order of the names; empty sections too.
std::vector<StatsSection> stats_sections(const model::Trace& trace, const Summary& summary);

struct StatsPrint {
  size_t top = 0;         // rows of each table; 0: all
  size_t name_width = 0;  // names are cut to this many columns; 0: not
  TextStyle style;
};
void print_section(const StatsSection& section, const StatsPrint& options, Output& out);
void print_section_csv(const StatsSection& section, Output& out);

}  // namespace gt::tracer
