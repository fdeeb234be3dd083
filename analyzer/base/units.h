// Numbers and names for people: times, sizes, counts, words of a command.
#pragma once

#include <cstdint>
#include <string>

namespace gt::analyzer {

std::string time_text(uint64_t ns);      // "812 ns", "1.24 ms", "3.10 s"
std::string bytes_text(uint64_t bytes);  // "96 B", "1.5 KiB", "64.0 MiB"

std::string count_text(uint64_t n, const char* one, const char* many);  // "1 launch", "20 launches"

// As a shell takes it: quoted where it has more than plain characters.
std::string shell_text(const std::string& word);

}  // namespace gt::analyzer
