// The build-id of an ELF file. Thread safety: pure.
#pragma once

#include <string>

namespace gt {

// Lower-case hex; "" when the file has none, or is no 64-bit ELF file.
std::string build_id_of_file(const std::string& path);

}  // namespace gt
