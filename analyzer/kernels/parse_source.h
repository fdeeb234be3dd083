// One source through libclang, in this very process: what the child of read_kernels() runs.
#pragma once

#include <string>
#include <string_view>

#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

Source parse_source(std::string_view source, std::string_view options);

}  // namespace gt::kernels
