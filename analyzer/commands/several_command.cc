// ganalyze A B ...: one profile for all of them, and what differs.
#include "analyzer/commands/commands.h"
#include "analyzer/compare/comparison_report.h"
#include "analyzer/commands/inputs.h"
#include "analyzer/profile/profile_files.h"
#include "analyzer/profile/unite_profiles.h"

namespace gt::analyzer {

int several_command(const Options& options, const std::vector<std::string>& files) {
  const auto platform = load_platform(options.text("platform"));
  if (!platform.ok()) return fail(ProgramName, platform.status());
  const double min_ratio = options.real("min-ratio").value_or(0.1);
  const auto inputs = read_inputs(files, min_ratio, platform->has_value() ? &**platform : nullptr);
  if (!inputs.ok()) return fail(ProgramName, inputs.status());
  const auto profile = unite_profiles(*inputs, min_ratio);
  if (!profile.ok()) return fail(ProgramName, profile.status());

  std::string path = options.text("profile");
  if (path.empty()) path = profile_path(files[0], (*inputs)[0].analysis.program_name());
  const Status written = write_profile(*profile, path, false);
  const Comparison comparison = compare(*inputs);
  const std::vector<Difference> differences = find_differences(*inputs, comparison);
  const Several several{*inputs, comparison, differences, *profile, written.ok() ? path : ""};
  const std::string text =
      options.flag("json") ? format_several_json(several) : format_several(several, report_style(options));
  if (const int end = print_text(text)) return end;
  if (!written.ok()) return fail(ProgramName, written.at("the profile was not written"));
  keep_copy(*profile);
  return ExitOk;
}

}  // namespace gt::analyzer
