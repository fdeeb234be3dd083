// The text report and its layout: widths, colours, sections.
#include "analyzer/report/report.h"

#include <doctest/doctest.h>

#include "analyzer/base/text.h"
#include "analyzer/base/units.h"
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

TEST_CASE("what is cut keeps the rule and the end of its place") {
  analyzer::Text out(72, false);
  const char* name = "finding: missed-overlap at main (a/very/long/path/to/some/file.cc:12)";
  out.table({{"What", "[1]", "[2]"}, {name, "yes", "-"}}, 1);
  const std::string line = lines_of(out.take())[1];
  CHECK(line.size() <= 72);
  CHECK(line.find("finding: missed-overlap at ...") != std::string::npos);
  CHECK(line.find("file.cc:12)") != std::string::npos);
}

TEST_CASE("words of a command are as a shell takes them, and stay on one line") {
  CHECK(analyzer::shell_text("/opt/app-1.2/app") == "/opt/app-1.2/app");
  CHECK(analyzer::shell_text("a b") == "'a b'");
  CHECK(analyzer::shell_text("it's") == "'it'\\''s'");
  CHECK(analyzer::shell_text("-o") == "./-o");
  CHECK(analyzer::shell_text("").size() == 2);
  analyzer::Text out(40, false);
  const std::string name = analyzer::shell_text("two  blanks and more words than fit");
  out.paragraph("The command is this one here: run " + name + " --now");
  CHECK(out.take().find("\n'two  blanks and more words than fit'\n--now") != std::string::npos);
}

TEST_CASE("a program is not sent to the optimizer when its devices hardly work") {
  for (const uint64_t wall_ns : {uint64_t{200'000'000}, uint64_t{200'000'000'000}}) {
    auto trace = testing::paper_loop(1000);
    for (auto& [name, value] : trace.facts)
      if (name == "wall_ns") value = std::to_string(wall_ns);
    if (trace.fact("wall_ns").empty()) trace.facts.emplace_back("wall_ns", std::to_string(wall_ns));
    const std::string text = report_of(trace, {100, false});
    const bool advised = text.find("Run the program with it: goptimize run") != std::string::npos;
    CHECK(advised == (wall_ns < 1'000'000'000));
    CHECK((text.find("would hardly change") != std::string::npos) == !advised);
  }
}

TEST_CASE("kernels of one name in several programs are told apart") {
  analyzer::Analysis a;
  for (const char* name : {"add", "add", "sub"}) {
    a.kernels.emplace_back();
    a.kernels.back().name = name;
    a.kernels.back().launches = 1;
  }
  CHECK(a.kernel_name(a.kernels[0]) == "add [program 1]");
  CHECK(a.kernel_name(a.kernels[1]) == "add [program 2]");
  CHECK(a.kernel_name(a.kernels[2]) == "sub");
  a.opencl_calls = 3;
  const std::string text = analyzer::format_report(a, "trace.db", "", {100, false});
  CHECK(text.find("sub 1 launch,") != std::string::npos);
}

TEST_CASE("first calls that wait for a compiler are named") {
  analyzer::Analysis a;
  a.opencl_calls = 10;
  a.functions.push_back({"clFinish", 10, 0, 100'000'000, 90'000'000, 0, 0, 1, true});
  a.functions.push_back({"clReleaseEvent", 10, 0, 90'000'000, 1'000, 0, 0, 1, false});
  const std::string text = analyzer::format_report(a, "trace.db", "", {200, false});
  CHECK(text.find("clFinish: 90 ms of its time are first calls, in which a driver may") != std::string::npos);
  CHECK(text.find("clReleaseEvent: ") == std::string::npos);
}
