// Blobs to modules.
#include "analyzer/calls/kernel_modules.h"

namespace gt::analyzer {

const Result<kernels::SpirvKernels>& KernelModules::read(model::BlobId module) {
  const auto it = known_.find(module);
  if (it != known_.end()) return it->second;
  const model::Blob& blob = trace_.blobs[module];
  const bool whole = blob.full_size <= blob.bytes.size();
  Result<kernels::SpirvKernels> kernels = Status(Kind::Invalid, "the trace keeps only the beginning of the SPIR-V");
  if (whole) kernels = kernels::SpirvKernels::read(blob.bytes);
  return known_.emplace(module, std::move(kernels)).first->second;
}

KernelModules::Answer KernelModules::find(const std::vector<model::BlobId>& modules, const std::string& kernel) {
  Answer answer;
  for (const model::BlobId id : modules) {
    if (id >= trace_.blobs.size()) continue;
    const Result<kernels::SpirvKernels>& module = read(id);
    if (!module.ok()) {
      answer.note = module.status().text();
      continue;
    }
    answer.kernel = module->find(kernel, answer.exact);
    if (!answer.kernel) continue;
    answer.note = answer.exact ? "" : "too intricate to be followed";
    return answer;
  }
  if (answer.note.empty()) answer.note = "the SPIR-V has no kernel of this name";
  return answer;
}

}  // namespace gt::analyzer
