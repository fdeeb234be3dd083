// Writing, then renaming.
#include "analyzer/report/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "traces/base/fd.h"

namespace gt::analyzer {
namespace {

// `name`: how errors call it.
Status write_all(const std::string& path, const std::string& name, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error(name, errno);
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(name, errno);
    text.remove_prefix(static_cast<size_t>(n));
  }
  // Tells of errors that writing did not (quotas, network file systems). Devices and pipes have nothing to flush.
  const bool flushed = ::fsync(fd.get()) == 0 || errno == EINVAL || errno == EROFS;
  return flushed ? Status() : system_error(name, errno);
}

// Where a link leads, so that the file is replaced and not the link.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

Status write_whole_file(const std::string& path, std::string_view text) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) return write_all(path, path, text);
  const std::string target = behind_links(path), part = target + ".part" + std::to_string(::getpid());
  Status status = write_all(part, path, text);
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) status = system_error(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

}  // namespace gt::analyzer
