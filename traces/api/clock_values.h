// Which results are what a clock showed: they differ from run to run of a program that does the same.
// Thread safety: constants.
#pragma once

#include <cstdint>

namespace gt::api {

// Is parameter `param` of function `fn` a time that the call gives back?
bool is_clock_value(uint16_t fn, uint16_t param);

}  // namespace gt::api
