// What libclang finds in OpenCL headers: functions, their parameters, and named values.
#pragma once

#include "traces/api/declarations.h"

namespace gt::api::gen {

// Unsupported: the headers cannot be parsed.
Result<Declarations> read_headers(const std::string& include_directory);

}  // namespace gt::api::gen
