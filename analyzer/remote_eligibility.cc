// Features that need the device and the program in one machine.
#include "analyzer/remote_eligibility.h"

#include <algorithm>
#include <string_view>

#include "analyzer/call_values.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

struct Feature {
  std::string_view prefix;  // of the function's name
  const char* reason;
};
constexpr Feature Local[] = {
    {"clEnqueueNativeKernel",
     "native kernels (clEnqueueNativeKernel) run the program's own code on the host"},
    {"clCreateFromGL", "buffers or images shared with OpenGL"},
    {"clCreateFromEGL", "images or events shared with EGL"},
    {"clCreateEventFromEGL", "images or events shared with EGL"},
    {"clCreateEventFromGL", "events shared with OpenGL"},
    {"clImportMemory", "imported host memory (clImportMemoryARM)"},
    {"clHostMemAllocINTEL", "unified shared memory of the host (clHostMemAllocINTEL)"},
    {"clSharedMemAllocINTEL", "unified shared memory (clSharedMemAllocINTEL)"},
};
constexpr int64_t SvmFineGrain = 1 << 10;  // CL_MEM_SVM_FINE_GRAIN_BUFFER

void add_once(std::vector<std::string>& reasons, const std::string& reason) {
  if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
    reasons.push_back(reason);
  }
}

void check_svm(const model::Trace& trace, model::ShapeId shape, std::vector<std::string>& reasons) {
  const auto flags = constant_value(trace, shape, 1);
  if (!flags) {
    add_once(reasons, "shared virtual memory whose kind varies: it may be fine-grained");
  } else if (*flags & SvmFineGrain) {
    add_once(reasons,
             "fine-grained shared virtual memory: host and device see each other's writes at once");
  }
}

}  // namespace

RemoteEligibility find_remote_eligibility(const model::Trace& trace) {
  RemoteEligibility out;
  for (model::ShapeId i = 0; i < trace.shapes.size(); ++i) {
    const std::string name = store::function_name(trace.shapes[i].fn);
    for (const Feature& f : Local)
      if (name.starts_with(f.prefix)) add_once(out.reasons, f.reason);
    if (name == "clSVMAlloc") check_svm(trace, i, out.reasons);
  }
  out.eligible = out.reasons.empty();
  return out;
}

}  // namespace gt::analyzer
