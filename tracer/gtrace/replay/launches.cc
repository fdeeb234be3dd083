#include "tracer/gtrace/replay/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gt::tracer {

Result<LaunchChoice> LaunchChoice::parse(const std::string& text, const model::Trace& trace) {
  LaunchChoice choice;
  const size_t mark = text.rfind('#');
  choice.kernel = text.substr(0, mark);
  if (mark != std::string::npos) {
    const char* const begin = text.data() + mark + 1;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, choice.nth);
    if (error != std::errc() || stop != end || choice.nth == 0)
      return Status(Kind::Invalid, fmt::format("--kernel {}: not NAME#N, the N-th launch of a kernel", text));
  }
  std::vector<std::string> names;
  for (const model::Kernel& k : trace.kernels) {
    if (k.name == choice.kernel) return choice;
    if (std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
  }
  constexpr size_t MostTold = 12;
  const size_t told = std::min(names.size(), MostTold);
  return Status(Kind::Invalid, fmt::format("--kernel {}: the trace has no such kernel; it has {}{}", choice.kernel,
                                           fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(told), ", "),
                                           told < names.size() ? ", ..." : ""));
}

}  // namespace gt::tracer
