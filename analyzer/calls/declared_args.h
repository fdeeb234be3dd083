// Kernels without a source: what the driver said of their arguments when they were recorded.
#pragma once

#include <string_view>

#include "analyzer/calls/kernel_facts.h"

namespace gt::analyzer {

// Fills in arguments, note and exactness from the lines that traces/model/folded/kernel_origin.h describes.
// A pointer to const counts as read only: its kernel was declared so. Everything else is as wide as
// its type allows, and memory that no argument leads to counts as read and written.
void add_declared(KernelFacts& kernel, std::string_view lines);

}  // namespace gt::analyzer
