// Standard output, written in pieces. Thread safety: none.
#pragma once

#include <string_view>

namespace gt::analyzer {

// All of it: 0, or errno.
int write_output(std::string_view text);

}  // namespace gt::analyzer
