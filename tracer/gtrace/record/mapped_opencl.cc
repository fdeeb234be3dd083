#include "tracer/gtrace/record/mapped_opencl.h"

#include <set>

#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/program_file.h"
#include "traces/api/alloc_fn.h"

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

std::vector<std::string> own_opencl_of_others(const model::Trace& trace, const std::string& program) {
  std::set<std::string> looked_at;
  if (const auto given = interpose::find_program(program)) looked_at.insert(given->binary);
  std::set<uint32_t> seen;  // processes with OpenCL calls
  for (const model::Shape& shape : trace.shapes)
    if (shape.fn < api::FirstAllocFn && shape.thread < trace.threads.size())
      seen.insert(trace.threads[shape.thread].process);
  std::vector<std::string> found;
  for (uint32_t i = 0; i < trace.processes.size(); ++i) {
    const std::string& executable = trace.processes[i].executable;
    if (seen.count(i) || executable.empty() || !looked_at.insert(executable).second) continue;
    const auto file = interpose::find_program(executable);
    if (file && file->own_opencl) found.push_back(executable);
  }
  return found;
}

}  // namespace gt::tracer
