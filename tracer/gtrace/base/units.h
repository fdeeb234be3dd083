// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace gt::tracer {

std::string human_ns(uint64_t ns);                     // "0", "812 ns", "1.24 ms", "3.10 s"
std::string human_bytes(uint64_t bytes);               // "0 B", "1.5 KiB", "64.0 MiB"
std::string human_rate(uint64_t bytes, uint64_t ns);   // "12.3 GB/s"; "" when it makes no sense
std::string human_percent(double part, double whole);  // "12.3%"

}  // namespace gt::tracer
