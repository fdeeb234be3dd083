// The platform file that --platform names.
#pragma once

#include <optional>
#include <string>

#include "traces/model/platform.h"

namespace gt::analyzer {

// Nothing for an empty path.
inline Result<std::optional<model::Platform>> load_platform(const std::string& path) {
  if (path.empty()) return std::optional<model::Platform>();
  auto platform = model::read_platform(path);
  if (!platform.ok()) return platform.status();
  return std::optional<model::Platform>(std::move(*platform));
}

}  // namespace gt::analyzer
