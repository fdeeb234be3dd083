// What ganalyze can be asked to do. Each gives the exit status; errors are one line on stderr.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "traces/base/command_line.h"

namespace gt::analyzer {

constexpr const char* ProgramName = "ganalyze";

// By --width and --color, and what standard output is.
ReportStyle report_style(const Options& options);

// Writes to standard output: ok also when the reader has gone, 4 with a line when it cannot be written.
int print_text(const std::string& text);

int check_command(const std::string& profile);
int diff_command(int argc, char** argv);  // argv[0] is "diff"; 0: the same structure, 1: not
int several_command(const Options& options, const std::vector<std::string>& files);
bool lists_queries(const Options& options);  // needs no trace
int query_command(const Options& options, const std::string& file);

// Puts /dev/null where standard input, output or error is closed, so that no file of ours gets their numbers. What is
// then written to a closed output fails, as it should.
void reserve_standard_files();

}  // namespace gt::analyzer
