// ganalyze: explains a trace and writes a profile.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "analyzer/analysis.h"
#include "analyzer/html_report.h"
#include "analyzer/json_report.h"
#include "analyzer/make_profile.h"
#include "analyzer/profile_files.h"
#include "analyzer/report.h"
#include "analyzer/whole_file.h"
#include "traces/base/command.h"
#include "traces/base/settings_cli.h"
#include "traces/store/trace_db.h"

namespace {

using namespace gt;
constexpr const char* Program = "ganalyze";

analyzer::ReportStyle report_style(const Options& options) {
  analyzer::ReportStyle style;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  if (const auto width = options.integer("width")) style.width = *width;
  const std::string& color = options.text("color");
  style.color = color == "always" || (color == "auto" && terminal && !std::getenv("NO_COLOR"));
  return style;
}

int check_profile(const std::string& path) {
  const auto profile = analyzer::read_profile(path);
  if (!profile.ok()) return fail(Program, profile.status());
  std::printf("%s: a valid profile of %s: version %d, %zu site%s, %s\n", path.c_str(),
              profile->program.empty() ? "a program" : profile->program.c_str(), profile->version,
              profile->sites.size(), profile->sites.size() == 1 ? "" : "s",
              profile->eligible ? "eligible" : "not eligible");
  return ExitOk;
}

Result<std::optional<model::Platform>> load_platform(const std::string& path) {
  if (path.empty()) return std::optional<model::Platform>();
  auto platform = model::read_platform(path);
  if (!platform.ok()) return platform.status();
  return std::optional<model::Platform>(std::move(*platform));
}

void keep_copy(const model::Profile& profile) {
  const std::string copy = analyzer::profile_copy_path(profile.build_id);
  if (copy.empty()) return;
  const Status status = analyzer::write_profile(profile, copy, true);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: warning: no copy of the profile: %s\n", Program,
                 status.text().c_str());
  }
}

Status write_page(const std::string& page, const analyzer::Analysis& analysis,
                  const model::Trace& trace, const std::string& file, const std::string& profile) {
  if (page.empty()) return {};
  const Status status =
      analyzer::write_whole_file(page, analyzer::format_html(analysis, trace, file, profile));
  if (!status.ok()) return status.at("the page was not written");
  std::fprintf(stderr, "%s: the page is in %s: open it in a browser\n", Program, page.c_str());
  return {};
}

int run(const Options& options, std::string file) {
  if (file.empty()) {
    auto newest = store::newest_trace(".");
    if (!newest.ok()) return fail(Program, newest.status());
    file = *newest;
    if (file.starts_with("./")) file.erase(0, 2);
  }
  const auto platform = load_platform(options.text("platform"));
  if (!platform.ok()) return fail(Program, platform.status());
  const auto trace = store::read_trace(file);
  if (!trace.ok()) return fail(Program, trace.status());

  const auto analysis = analyzer::analyze(*trace, options.real("min-ratio").value_or(0.1),
                                          platform->has_value() ? &**platform : nullptr);
  const model::Profile profile = analyzer::make_profile(analysis, platform->has_value() ? &**platform : nullptr);
  std::string path = options.text("profile");
  if (path.empty()) path = analyzer::profile_path(file, analysis.program_name());
  const Status written = analyzer::write_profile(profile, path, false);
  const std::string shown = written.ok() ? path : "";
  const std::string text =
      options.flag("json") ? analyzer::format_json(analysis, file, shown)
                           : analyzer::format_report(analysis, file, shown, report_style(options));
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) return fail(Program, system_error("standard output", errno));
  const Status page = write_page(options.text("html"), analysis, *trace, file, shown);
  if (!page.ok()) return fail(Program, page);
  if (!written.ok()) return fail(Program, written.at("the profile was not written"));
  keep_copy(profile);
  return ExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  ::unsetenv("DEBUGINFOD_URLS");  // libdw would ask servers: the analysis works with what is here
  CLI::App app("Explains a trace of gtrace run, and writes a profile for goptimize run.", Program);
  app.set_version_flag("--version", "ganalyze " GT_VERSION);
  Options options(app, Program);
  std::string file;
  app.add_option("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  if (!options.text("check").empty()) return check_profile(options.text("check"));
  return run(options, file);
}
