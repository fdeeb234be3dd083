#include "analyzer/base/output.h"

#include <unistd.h>

#include <cerrno>

namespace gt::analyzer {

int write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace gt::analyzer
