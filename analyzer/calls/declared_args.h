// Kernels without a source: what the driver said of their arguments when they were recorded.
#pragma once

#include <string_view>
#include <vector>

#include "traces/kernels/kernel_args.h"

namespace gt::analyzer {

// The arguments, from the lines that traces/model/folded/kernel_origin.h describes. A pointer to const counts as read
// only: its kernel was declared so. Everything else is as wide as its type allows.
std::vector<kernels::Arg> declared_args(std::string_view lines);

}  // namespace gt::analyzer
