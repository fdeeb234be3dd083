// trace.db files in a directory: the newest one, and room for the next.
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "traces/store/trace_db.h"

namespace gt::store {

Result<std::string> newest_trace(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), &::closedir);
  if (!dir) return system_error(directory, errno);
  std::string newest;
  timespec newest_time{};
  while (const dirent* entry = ::readdir(dir.get())) {
    struct stat st {};
    const std::string path = directory == "." ? entry->d_name : directory + "/" + entry->d_name;
    if (::fnmatch("trace*.db", entry->d_name, 0) != 0 || ::stat(path.c_str(), &st) != 0) continue;
    if (!S_ISREG(st.st_mode)) continue;
    const bool newer = st.st_mtim.tv_sec != newest_time.tv_sec
                           ? st.st_mtim.tv_sec > newest_time.tv_sec
                           : st.st_mtim.tv_nsec > newest_time.tv_nsec;
    if (newest.empty() || newer) {
      newest = path;
      newest_time = st.st_mtim;
    }
  }
  if (newest.empty()) {
    return Status(Kind::Invalid, "no trace*.db in " +
                                     (directory == "." ? "this directory" : directory) +
                                     ": name a file, or record one with `gtrace run`");
  }
  return newest;
}

// The first free number, so that numbers tell the order: trace.1.db is the oldest. Never replaces a
// file.
Status keep_older(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return {};
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool suffix =
      dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1);
  const std::string stem = suffix ? path.substr(0, dot) : path,
                    end = suffix ? path.substr(dot) : "";
  for (int n = 1; n < 1'000'000; ++n) {
    const std::string older = stem + "." + std::to_string(n) + end;
    if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, older.c_str(), RENAME_NOREPLACE) == 0)
      return {};
    if (errno == EINVAL || errno == ENOSYS) {  // a file system without RENAME_NOREPLACE
      if (::access(older.c_str(), F_OK) == 0) continue;
      if (::rename(path.c_str(), older.c_str()) == 0) return {};
    }
    if (errno != EEXIST) return system_error("cannot keep " + path + " as " + older, errno);
  }
  return {Kind::System, "cannot keep " + path + ": too many older traces beside it", EEXIST};
}

}  // namespace gt::store
