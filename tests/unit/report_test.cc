// The text report and its layout: widths, colours, sections.
#include "analyzer/report/report.h"

#include <doctest/doctest.h>

#include "analyzer/report/text.h"
#include "tests/unit/sample_trace.h"

using namespace gt;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    out.push_back(text.substr(start, end - start));
  }
  return out;
}

// A word that is longer than the line has nowhere to go.
bool fits(const std::string& line, size_t width) {
  const size_t start = line.find_first_not_of(' ');
  const bool one_word = start != std::string::npos && line.find(' ', start) == std::string::npos;
  return line.size() <= width || one_word;
}

std::string report_of(const model::Trace& trace, analyzer::ReportStyle style) {
  return analyzer::format_report(analyzer::analyze(trace, 0.1, nullptr), "trace.db", "app.gprofile",
                                 style);
}

}  // namespace

TEST_CASE("every line fits, from 60 columns on") {
  auto trace = testing::paper_loop(1000);
  trace.processes[0].executable = "/opt/" + std::string(70, 'p') + "/app";
  trace.devices[0].device = "a device with a name that is longer than it ought to be, by far";
  for (const size_t width : {60, 80, 120, 200}) {
    for (const std::string& line : lines_of(report_of(trace, {width, false}))) {
      CHECK_MESSAGE(fits(line, width), width, ": ", line);
    }
  }
}

TEST_CASE("sections come in the order of what matters") {
  const std::string text = report_of(testing::paper_loop(1000), {100, false});
  size_t last = 0;
  for (const char* heading : {"Dispatch ratio", "Where the time goes", "Findings",
                              "Memory that feeds transfers", "Kernels", "Remote devices", "Next"}) {
    const size_t at = text.find("\n" + std::string(heading));
    CHECK_MESSAGE(at != std::string::npos, heading);
    CHECK_MESSAGE(at > last, heading);
    last = at;
  }
  CHECK(text.find("goptimize run") != std::string::npos);
}

TEST_CASE("colour only when asked for, and always ended") {
  const auto trace = testing::paper_loop(10);
  CHECK(report_of(trace, {100, false}).find('\x1b') == std::string::npos);
  const std::string text = report_of(trace, {100, true});
  size_t begun = 0, ended = 0;
  for (size_t at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[", at + 1)) {
    (text.compare(at, 4, "\x1b[0m") == 0 ? ended : begun) += 1;
  }
  CHECK(begun > 3);
  CHECK(begun == ended);
}

TEST_CASE("a table that does not fit becomes a list, without cells that say nothing") {
  const std::vector<std::vector<std::string>> rows = {
      {"Where", "By", "Allocated", "Transfers", "Each", "To device"},
      {"main (app.cc:12)", "malloc", "1 x 4.0 MiB", "1000", "-", "40.0 MiB"}};
  analyzer::Text wide(100, false), narrow(60, false);
  wide.table(rows, 2);
  narrow.table(rows, 2);
  CHECK(lines_of(wide.take()).size() == 2);
  const std::string text = narrow.take();
  CHECK(text.find("  main (app.cc:12)\n") == 0);
  CHECK(text.find("Transfers 1000,") != std::string::npos);
  CHECK(text.find("Each") == std::string::npos);
}

TEST_CASE("bars") {
  CHECK(analyzer::bar_text(50, 100, 10) == "#####");
  CHECK(analyzer::bar_text(1, 1000000, 10) == "#");
  CHECK(analyzer::bar_text(0, 100, 10).empty());
  CHECK(analyzer::bar_text(7, 0, 10).empty());
}
