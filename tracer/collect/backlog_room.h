// How much memory the records may take that the collector has not come to yet.
//
// Thread safety: none needed. Cost: some files of /proc and /sys are read.
#pragma once

#include <cstdint>
#include <string>

namespace gt::tracer {

// An eighth of what is free where the spool lies, of the machine's memory and of what the control groups leave, so
// that neither the program nor others miss it; at most MostBacklog.
constexpr uint64_t MostBacklog = uint64_t{1} << 30;
uint64_t backlog_room(const std::string& folder);

}  // namespace gt::tracer
