#include "traces/base/cgroups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "traces/base/fd.h"

namespace gt {
namespace {

using Path = char[PATH_MAX];

std::string_view read_text(const char* path, char* buffer, size_t size) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.open() ? ::read(file.get(), buffer, size - 1) : 0;
  buffer[std::max<ssize_t>(n, 0)] = 0;
  return {buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))};
}

struct Walk {
  const char* root;
  std::string_view controller;
  void (*visit)(const Cgroup&, void*);
  void* context;

  // The group and all above it. `mount`, `name`: the folder of the groups.
  void up(const char* mount, std::string_view name, std::string_view group, int version) const {
    if (group == "/") group = "";
    for (;;) {
      Path folder;
      const auto name_size = static_cast<int>(name.size()), group_size = static_cast<int>(group.size());
      const int length = std::snprintf(folder, sizeof folder, "%s%s%.*s%.*s", root, mount, name_size, name.data(),
                                       group_size, group.data());
      if (length >= 0 && static_cast<size_t>(length) < sizeof folder) visit({folder, version}, context);
      if (group.empty()) return;
      const size_t slash = group.rfind('/');
      group = group.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
  }

  bool is_named_in(std::string_view controllers) const {
    for (;;) {
      const size_t comma = controllers.find(',');
      if (controllers.substr(0, comma) == controller) return true;
      if (comma == std::string_view::npos) return false;
      controllers.remove_prefix(comma + 1);
    }
  }

  // A line of /proc/self/cgroup: NUMBER:CONTROLLERS:GROUP, without controllers for version 2.
  void line(std::string_view text) const {
    const size_t first = text.find(':');
    const size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string_view controllers = text.substr(first + 1, second - first - 1), group = text.substr(second + 1);
    if (controllers.empty()) return up("/sys/fs/cgroup", "", group, 2);
    if (is_named_in(controllers)) up("/sys/fs/cgroup/", controller, group, 1);
  }
};

}  // namespace

std::string_view Cgroup::read(const char* name, char* buffer, size_t size) const noexcept {
  const int saved_errno = errno;
  Path path;
  const int length = std::snprintf(path, sizeof path, "%s/%s", folder, name);
  const bool fits = length >= 0 && static_cast<size_t>(length) < sizeof path;
  const std::string_view text = fits ? read_text(path, buffer, size) : std::string_view();
  errno = saved_errno;
  return text;
}

void visit_cgroups(const char* root, std::string_view controller, void (*visit)(const Cgroup&, void*),
                   void* context) noexcept {
  const int saved_errno = errno;
  Path path;
  char text[8192];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  const Walk walk{root, controller, visit, context};
  for (std::string_view rest = read_text(path, text, sizeof text); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    walk.line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  errno = saved_errno;
}

}  // namespace gt
