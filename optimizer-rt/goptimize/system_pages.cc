#include "optimizer-rt/goptimize/system_pages.h"

#include <sys/prctl.h>

#include <cstdio>
#include <fstream>

namespace gt::opt {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool copies_small_pages(const std::string& release) {
  int major = 0, minor = 0;
  return std::sscanf(release.c_str(), "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 8));
}

}  // namespace

SystemPages system_pages(const std::string& root) {
  if (::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) return SystemPages::Never;  // inherited by what we start
  const std::string line = first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled");  // always [madvise] never
  if (!copies_small_pages(first_line(root + "/proc/sys/kernel/osrelease"))) return SystemPages::Never;
  if (line.find("[madvise]") != std::string::npos) return SystemPages::OnRequest;
  return line.find("[always]") != std::string::npos ? SystemPages::Always : SystemPages::Never;
}

}  // namespace gt::opt
