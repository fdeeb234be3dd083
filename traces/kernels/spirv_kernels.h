// What the kernels of a SPIR-V module do with their arguments: the same answer as for OpenCL C (analyzer/kernels), an
// upper bound, without a compiler.
//
// Modules come from programs, so they are hostile: reading one takes bounded time and memory and ends with an answer.
// Cost: a walk over the module (some ms for a megabyte), then some us to ms for each kernel.
// Thread safety: a reader is a value; several threads may ask one for kernels.
#pragma once

#include <optional>
#include <string_view>

#include "traces/base/bytes.h"
#include "traces/base/status.h"
#include "traces/kernels/kernel_args.h"
#include "traces/kernels/spirv_module.h"

namespace gt::kernels {

class SpirvKernels {
 public:
  // Errors: as spirv::Module::read().
  static Result<SpirvKernels> read(ByteView module);

  // `exact` becomes false where it was too intricate, and all is taken to be read and written. None of that name:
  // nothing.
  std::optional<Kernel> find(std::string_view name, bool& exact) const;
  const std::vector<spirv::EntryPoint>& entries() const { return module_.kernels(); }

 private:
  explicit SpirvKernels(spirv::Module module) : module_(std::move(module)) {}
  Kernel describe(const spirv::EntryPoint& entry, bool& exact) const;

  spirv::Module module_;
};

// All kernels of a module; without any, and with a note, where it could not be read.
Source read_spirv(ByteView module);

}  // namespace gt::kernels
