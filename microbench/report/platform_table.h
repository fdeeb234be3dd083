// What was measured, as text for a terminal. Thread safety: pure functions.
#pragma once

#include <string>

#include "traces/model/platform/platform.h"

namespace gt::bench {

std::string platform_table(const model::Platform& platform);

}  // namespace gt::bench
