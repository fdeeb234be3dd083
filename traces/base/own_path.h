// Where the running program lies, and what was installed beside it. Thread safety: yes.
#pragma once

#include <unistd.h>

#include <climits>
#include <string>

namespace gt {

// "": nobody knows.
inline std::string own_path() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return n <= 0 || n == sizeof path ? std::string() : std::string(path, static_cast<size_t>(n));
}
inline std::string own_folder() {
  const std::string whole = own_path();
  return whole.substr(0, whole.rfind('/'));
}
// A bare name where nobody knows: it is looked for in PATH then.
inline std::string program_beside(const std::string& name) {
  const std::string folder = own_folder();
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace gt
