// Writing, then renaming.
#include "traces/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "traces/base/fd.h"

namespace gt {
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

// What a wrong name must not cost: a trace, a program.
const char* precious(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char head[16] = "";
  if (!fd.open() || ::read(fd.get(), head, sizeof head) != static_cast<ssize_t>(sizeof head)) return nullptr;
  const std::string_view begins(head, sizeof head);
  if (begins.starts_with("SQLite format 3")) return "a trace or another database";
  return begins.starts_with("\x7f" "ELF") ? "a program" : nullptr;
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
  if (const char* what = precious(path)) return {Kind::Invalid, path + ": is " + what + "; it is not replaced"};
  const std::string target = behind_links(path), part = target + ".part" + std::to_string(::getpid());
  Status status = write_all(part, path, text);
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) status = system_error(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

}  // namespace gt
