// The words that platform.json's writer and its reader share, and the bounds of what they accept.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::model {

constexpr const char* PlatformFormat = "gtrace-platform";
constexpr size_t MaxPlatformBytes = 16 << 20;  // of a file
constexpr double MaxDurationNs = 1e12;         // no message and no launch takes longer
constexpr double MaxRate = 1e18;               // bytes a second
constexpr uint64_t MaxThreads = 1 << 20;
constexpr uint64_t MaxTimeS = 253402300799;  // the end of the year 9999

}  // namespace gt::model
