// Writing, then renaming.
#include "analyzer/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "traces/base/fd.h"

namespace gt::analyzer {
namespace {

Status write_all(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error(path, errno);
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, errno);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Status write_whole_file(const std::string& path, std::string_view text) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) return write_all(path, text);
  const std::string part = path + ".part" + std::to_string(::getpid());
  Status status = write_all(part, text);
  if (status.ok() && ::rename(part.c_str(), path.c_str()) != 0) status = system_error(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

}  // namespace gt::analyzer
