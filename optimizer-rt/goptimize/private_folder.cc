#include "optimizer-rt/goptimize/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gt::opt {

Status private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("cannot make " + path, errno);
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return system_error("cannot look at " + path, errno);
  if (!S_ISDIR(st.st_mode)) return Status(Kind::System, path + " is not a folder");
  if (st.st_uid != ::geteuid()) return Status(Kind::System, path + " belongs to another user");
  if ((st.st_mode & 077) != 0) return Status(Kind::System, path + " is open to other users");
  return {};
}

}  // namespace gt::opt
