// A folder that nobody else can have put anything into: for files at a place whose name others can guess.
#pragma once

#include <string>

#include "traces/base/status.h"

namespace gt::opt {

// Makes `path` with mode 0700, or finds it so: a folder, no link to one, ours, closed to others. System: it cannot be
// made, or is not so.
Status private_folder(const std::string& path);

}  // namespace gt::opt
