// Reading a small file of text that somebody names.
#pragma once

#include <string>

#include "traces/base/status.h"

namespace gt {

// At most `most_bytes`. A pipe is read to its end; nobody at its other end, or nothing for five seconds, is the end, so
// that no name of a file makes a program wait for ever. Corrupt: a folder, or too large for `what` ("a profile").
// System: it cannot be read.
Result<std::string> read_text_file(const std::string& path, size_t most_bytes, const char* what);

}  // namespace gt
