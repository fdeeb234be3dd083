// The names of address spaces and accesses.
#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

const char* address_space_name(AddressSpace space) {
  constexpr const char* Names[] = {"private", "global", "constant", "local"};
  return Names[static_cast<size_t>(space)];
}
const char* access_name(Access access) {
  constexpr const char* Names[] = {"none", "read", "write", "read_write"};
  return Names[static_cast<size_t>(access)];
}

}  // namespace gt::kernels
