// The log of gproxy: whole lines on standard error, which never hold the supervisor up.
//
// A line that cannot be written at once (a full disk, a reader that stopped) is dropped and counted.
// Thread safety: any thread; a line is one write.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace gt::proxy {

// `text` loses what is beyond 1000 bytes, and has '?' for control characters: some of it is not ours. The time stands
// in front, unless the system's journal, which has its own, reads standard error.
void log_line(std::string_view text);
uint64_t lost_lines();

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace gt::proxy
