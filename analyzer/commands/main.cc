// ganalyze: explains a trace and writes a profile.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/commands/commands.h"
#include "analyzer/commands/inputs.h"
#include "analyzer/commands/usage.h"
#include "analyzer/profile/make_profile.h"
#include "analyzer/profile/profile_files.h"
#include "analyzer/remote/remote_links.h"
#include "analyzer/report/html_report.h"
#include "analyzer/report/json_report.h"
#include "analyzer/report/markdown_report.h"
#include "analyzer/verify/verify.h"
#include "traces/base/command.h"
#include "traces/base/command_line.h"
#include "traces/base/whole_file.h"
#include "traces/store/trace_db.h"

namespace {

using namespace gt;
constexpr const char* Program = "ganalyze";
constexpr std::chrono::seconds ProgressDelay(2);

Status write_page(const std::string& page, const analyzer::Analysis& analysis, const model::Trace& trace,
                  const std::string& file, const std::string& profile) {
  if (page.empty()) return {};
  const Status status = write_whole_file(page, analyzer::format_html(analysis, trace, file, profile));
  if (!status.ok()) return status.at("the page was not written");
  std::fprintf(stderr, "%s: the page is in %s: open it in a browser\n", Program, page.c_str());
  return {};
}

std::string report_text(const Options& options, const analyzer::Analysis& analysis, const std::string& file,
                        const std::string& profile) {
  if (options.flag("json")) return analyzer::format_json(analysis, file, profile);
  if (options.flag("markdown")) return analyzer::format_markdown(analysis, file);
  return analyzer::format_report(analysis, file, profile, analyzer::report_style(options));
}

int run(const Options& options, const std::string& file) {
  const auto links = analyzer::parse_links(options.text("link"));
  if (!links.ok()) return fail(Program, links.status());
  const auto platform = analyzer::load_platform(options.text("platform"));
  if (!platform.ok()) return fail(Program, platform.status());
  const model::Platform* const costs = platform->has_value() ? &**platform : nullptr;
  std::optional<Progress> progress(std::in_place, "reading the trace", analyzer::AnalysisSteps, ProgressDelay);
  const auto trace = store::read_trace(file);
  if (!trace.ok()) return fail(Program, trace.status());

  auto analysis =
      analyzer::analyze(*trace, options.real("min-ratio").value_or(0.1), costs, *links, &*progress);
  progress.reset();
  const model::Profile profile = analyzer::make_profile(analysis, costs);
  if (options.flag("verify")) {
    std::fprintf(stderr, "%s: replaying the trace under other choices, by turns\n", Program);
    analysis.verified = analyzer::verify_findings(analysis, profile, file);
  }
  std::string path = options.text("profile");
  if (path.empty()) path = analyzer::profile_path(file, analysis.program_name());
  const Status written = analyzer::write_profile(profile, path, false);
  const std::string shown = written.ok() ? path : "";
  if (const int end = analyzer::print_text(report_text(options, analysis, file, shown))) return end;
  const Status page = write_page(options.text("html"), analysis, *trace, file, shown);
  if (!page.ok()) return fail(Program, page);
  if (!written.ok()) return fail(Program, written.at("the profile was not written"));
  analyzer::keep_copy(profile);
  return ExitOk;
}

// The newest trace here when none was named.
Result<std::string> trace_file(const std::vector<std::string>& files) {
  if (!files.empty()) return files[0];
  auto newest = store::newest_trace(".");
  if (newest.ok() && newest->starts_with("./")) newest->erase(0, 2);
  return newest;
}

int analyze_command(int argc, char** argv) {
  CommandLine line(Program, "Explains a trace of gtrace run, and writes a profile for goptimize run.",
                   "ganalyze " GT_VERSION);
  line.footer("Another command: ganalyze diff A B, what changed between two traces (ganalyze diff --help).");
  const Options& options = line.options();
  std::vector<std::string> files;
  line.arguments("FILE", files, "The trace, or several of one program; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const Status usage = analyzer::check_usage(line, files.size()); !usage.ok()) return fail(Program, usage);
  if (!options.text("check").empty()) return analyzer::check_command(options.text("check"));
  const bool query = !options.text("query").empty();
  if (query && analyzer::lists_queries(options)) return analyzer::query_command(options, "");
  if (files.size() > 1) return analyzer::several_command(options, files);
  const auto file = trace_file(files);
  if (!file.ok()) return fail(Program, file.status());
  return query ? analyzer::query_command(options, *file) : run(options, *file);
}

}  // namespace

int main(int argc, char** argv) {
  analyzer::reserve_standard_files();
  ::unsetenv("DEBUGINFOD_URLS");  // libdw would ask servers: the analysis works with what is here
  try {
    if (argc > 1 && std::strcmp(argv[1], "diff") == 0) return analyzer::diff_command(argc - 1, argv + 1);
    return analyze_command(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(Program, {Kind::System, "not enough memory"});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: internal error: %s\n", Program, e.what());
    return ExitInternal;
  }
}
