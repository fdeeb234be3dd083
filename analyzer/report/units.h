// Numbers for people: times, sizes, offsets.
#pragma once

#include <cstdint>
#include <string>

namespace gt::analyzer {

std::string time_text(uint64_t ns);      // "812 ns", "1.24 ms", "3.10 s"
std::string bytes_text(uint64_t bytes);  // "96 B", "1.5 KiB", "64.0 MiB"

}  // namespace gt::analyzer
