// Values as text: the names of the OpenCL headers where the table knows their type: one name for an enumerator, names
// joined by | for a bit field, a number where there is no name. Thread safety: yes. Cost: allocates; for tools, not for
// recording.
#pragma once

#include <string>
#include <string_view>

#include "traces/api/decode.h"

namespace gt::api {

// The name of `value` in a group ("cl_bool", "cl_mem_flags", "error"): "" when it has none.
std::string value_name(std::string_view group, int64_t value);

// "CL_INVALID_VALUE", or the number.
std::string error_name(int64_t code);

// One number given to (or returned through) a parameter. param: DecodedReturn for the return value.
std::string print_value(uint16_t fn, uint16_t param, uint64_t value);

}  // namespace gt::api
