// What the commands that measure devices share.
#include "microbench/commands/command_parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>

namespace gt::bench {

Result<std::vector<Device>> chosen_devices(const Options& options) {
  Result<std::vector<Device>> all = list_devices();
  const auto only = options.integer("device");
  if (!all || !only) return all;
  if (*only >= all->size())
    return Status(Kind::Invalid,
                  fmt::format("there is no device {}: {} were found", *only, all->size()));
  return std::vector<Device>{(*all)[*only]};
}

std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) return ".";
  return std::filesystem::path(std::string(path, static_cast<size_t>(n))).parent_path().string();
}

Status can_write(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return system_error("cannot write " + path, EISDIR);
  const bool exists = std::filesystem::exists(path, error);
  const bool regular = !exists || std::filesystem::is_regular_file(path, error);
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  if (::access(regular ? folder.c_str() : path.c_str(), W_OK) != 0) return system_error("cannot write " + path, errno);
  return {};
}

}  // namespace gt::bench
