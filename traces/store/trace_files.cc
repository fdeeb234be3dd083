// trace.db files in a directory: the newest one, and room for the next.
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "traces/contents/content_file.h"
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

namespace {

// Never replaces a file: EEXIST then. 0: done.
int move_to_free(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system without RENAME_NOREPLACE.
  if (::access(to.c_str(), F_OK) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

// The first free number, so that numbers tell the order: trace.1.db is the oldest.
Status keep_older(const std::string& path) {
  const std::string contents = contents::path_beside(path);
  const bool has_contents = contents != path && exists(contents);
  if (!exists(path) && !has_contents) return {};
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool suffix =
      dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1);
  const std::string stem = suffix ? path.substr(0, dot) : path,
                    end = suffix ? path.substr(dot) : "";
  for (int n = 1; n < 1'000'000; ++n) {
    const std::string older = stem + "." + std::to_string(n) + end, older_contents = contents::path_beside(older);
    if (has_contents && exists(older_contents)) continue;
    if (const int err = exists(path) ? move_to_free(path, older) : exists(older) ? EEXIST : 0; err == EEXIST) {
      continue;
    } else if (err != 0) {
      return system_error("cannot keep " + path + " as " + older, err);
    }
    const int err = has_contents ? move_to_free(contents, older_contents) : 0;
    return err == 0 ? Status() : system_error("cannot keep " + contents + " as " + older_contents, err);
  }
  return {Kind::System, "cannot keep " + path + ": too many older traces beside it", EEXIST};
}

}  // namespace gt::store
