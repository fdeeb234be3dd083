#include "optimizer-rt/cl/virtual_handle.h"

namespace gt::opt {

constinit std::atomic<const cl_icd_dispatch*> virtual_table{nullptr};

}  // namespace gt::opt
