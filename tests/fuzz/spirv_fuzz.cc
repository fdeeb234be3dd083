// Fuzz target: any bytes as a SPIR-V module. Reading it ends, and no answer goes beyond what types allow.
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/seeds.h"
#include "tests/spirv_samples.h"
#include "traces/kernels/spirv_kernels.h"

std::vector<gt::Bytes> fuzz_seeds() { return gt::testing::sample_modules(); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gt::kernels::AddressSpace;
  const gt::kernels::Source source = gt::kernels::read_spirv({data, size});
  if (!source.exact && source.note.empty()) std::abort();
  for (const gt::kernels::Kernel& k : source.kernels)
    for (const gt::kernels::Arg& a : k.args) {
      if (a.space == AddressSpace::Private && a.access != gt::kernels::Access::None) std::abort();
      if (a.space == AddressSpace::Constant && gt::kernels::writes(a.access)) std::abort();
    }
  return 0;
}
