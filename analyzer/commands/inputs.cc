// From files to inputs.
#include "analyzer/commands/inputs.h"

#include "analyzer/profile/make_profile.h"
#include "traces/store/trace_db.h"

namespace gt::analyzer {

Result<std::optional<model::Platform>> load_platform(const std::string& path) {
  if (path.empty()) return std::optional<model::Platform>();
  auto platform = model::read_platform(path);
  if (!platform.ok()) return platform.status();
  return std::optional<model::Platform>(std::move(*platform));
}

Result<std::vector<Input>> read_inputs(const std::vector<std::string>& files, double min_ratio,
                                       const model::Platform* platform) {
  std::vector<Input> out;
  for (const std::string& file : files) {
    const auto trace = store::read_trace(file);
    if (!trace.ok()) return trace.status();
    CallSites sites;
    Input input;
    input.file = file;
    input.analysis = analyze(*trace, min_ratio, platform);
    input.loops = find_trip_counts(*trace, sites);
    input.profile = make_profile(input.analysis, platform);
    out.push_back(std::move(input));
  }
  return out;
}

}  // namespace gt::analyzer
