#include "optimizer-rt/goptimize/system_pages.h"

#include <sys/prctl.h>

#include <fstream>

namespace gt::opt {

SystemPages system_pages(const std::string& root) {
  if (::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) return SystemPages::Never;  // inherited by what we start
  std::ifstream file(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;  // always [madvise] never
  std::getline(file, line);
  if (line.find("[madvise]") != std::string::npos) return SystemPages::OnRequest;
  return line.find("[always]") != std::string::npos ? SystemPages::Always : SystemPages::Never;
}

}  // namespace gt::opt
