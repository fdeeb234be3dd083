#include "tracer/gtrace/mapped_opencl.h"

#include <set>

#include "tracer/interpose/elf_file.h"

namespace gt::tracer {

std::vector<std::string> mapped_opencl(const model::Trace& trace, const std::string& injected) {
  std::set<std::string> looked_at{injected};
  std::vector<std::string> found;
  for (const model::Module& module : trace.modules) {
    if (module.path.empty() || module.path[0] != '/' || !looked_at.insert(module.path).second) continue;
    const auto file = interpose::ElfFile::open(module.path);
    if (file && file->defines("clGetPlatformIDs")) found.push_back(module.path);
  }
  return found;
}

}  // namespace gt::tracer
