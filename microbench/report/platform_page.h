// What gmicrobench platform measured, as one page: plots of samples and curves, tables, and how far to trust them.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "microbench/measure.h"

namespace gt::bench {

std::string platform_page(const PlatformResult& result);

}  // namespace gt::bench
