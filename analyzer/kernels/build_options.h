// The options of clBuildProgram as arguments for clang.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt::kernels {

struct BuildOptions {
  std::vector<std::string> arguments;  // -D, -U and -I, in their order
  std::string standard;                // "CL1.2", ...; empty when not given
  auto operator<=>(const BuildOptions&) const = default;
};

// What does not change the meaning of the source (vendor options) is left out.
BuildOptions parse_build_options(std::string_view options);

}  // namespace gt::kernels
