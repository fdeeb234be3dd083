// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "traces/base/status.h"

namespace gt {

// Writes beside `path` and renames; what is no regular file (a pipe, /dev/stdout) is written to in
// place. System when that is not possible: nothing is left behind then. Invalid when it would replace a trace or a
// program.
Status write_whole_file(const std::string& path, std::string_view text);

}  // namespace gt
