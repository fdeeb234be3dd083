// One line for each thing that would else be passed over in silence.
#include "analyzer/commands/usage.h"

#include <cmath>

namespace gt::analyzer {
namespace {

Status wrong(std::string what) { return {Kind::Invalid, std::move(what)}; }

}  // namespace

Status check_settings(const CommandLine& line) {
  if (const auto nothing = line.given_nothing()) return wrong(*nothing + " is empty");
  const Options& options = line.options();
  const double ratio = options.real("min-ratio").value_or(0);
  if (!std::isfinite(ratio) || ratio < 0) {
    return wrong("--min-ratio " + options.text("min-ratio") + ": a ratio is a number from 0 on");
  }
  if (options.integer("width") == uint64_t{0}) return wrong("--width 0: nothing fits into no column");
  return {};
}

Status check_usage(const CommandLine& line, size_t files) {
  GT_TRY(check_settings(line));
  const Options& options = line.options();
  const bool query = !options.text("query").empty(), html = !options.text("html").empty();
  if (!options.text("check").empty() && files > 0) return wrong("--check reads one profile: a file too many");
  if (options.flag("csv") && !query) return wrong("--csv prints what --query asks");
  if (options.flag("markdown") && (options.flag("json") || query))
    return wrong("--markdown, --json or --query, not two");
  if (options.flag("markdown") && files > 1) return wrong("--markdown summarizes one trace");
  if (html && query) return wrong("--html or --query, not both");
  if (query && files > 1) return wrong("--query asks one trace");
  if (options.flag("verify") && (query || files > 1)) return wrong("--verify replays one trace");
  if (html && files > 1) return wrong("--html shows one trace");
  for (const char* name : {"profile", "html"}) {
    if (options.text(name) != "-") continue;
    return wrong("--" + std::string(name) + " -: standard output is the report's; /dev/stdout mixes both");
  }
  if (html && options.text("html") == options.text("profile")) return wrong("--profile and --html name the same file");
  return {};
}

}  // namespace gt::analyzer
