// Results of the benchmark programs for people and programs: a table, JSON, a page with a chart.
// Thread safety: functions without state.
#pragma once

#include <string>

#include "microbench/suite/results.h"

namespace gt::bench {

std::string format_table(const Results& results);
std::string format_json(const Results& results);  // docs/gmicrobench.md has its keys
std::string format_page(const Results& results);  // one HTML file that needs no other

// Every failure, one a line.
std::string format_failures(const Results& results);

}  // namespace gt::bench
