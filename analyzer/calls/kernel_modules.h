// The SPIR-V that a trace's programs were made from, read when a kernel of it is asked for.
// Cost: a module is walked once; a kernel is followed each time that it is asked for. Thread safety: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/kernels/spirv_kernels.h"
#include "traces/model/fold/event.h"

namespace gt::analyzer {

class KernelModules {
 public:
  explicit KernelModules(const model::Trace& trace) : trace_(trace) {}

  struct Answer {
    std::optional<kernels::Kernel> kernel;
    bool exact = false;
    std::string note;  // why there is none, or why it is not exact
  };
  // The kernel of that name in the first of the modules that has it.
  Answer find(const std::vector<model::BlobId>& modules, const std::string& kernel);

 private:
  const Result<kernels::SpirvKernels>& read(model::BlobId module);

  const model::Trace& trace_;
  std::map<model::BlobId, Result<kernels::SpirvKernels>> known_;
};

}  // namespace gt::analyzer
