// The kernels that gmicrobench launches: an empty one, one that reads memory and computes, one that only computes.
//
// A work-item loads four vectors, coalesced on a GPU and wide on a processor, and does k fused multiply-adds on each
// float: independent chains in a work-item, and many work-items, hide the latency. The result is written only if it is
// a number that it cannot be, so that loads are the only traffic. Thread safety: none.
#pragma once

#include "microbench/base/cl_session.h"

namespace gt::bench {

class Kernels {
 public:
  explicit Kernels(const Session& session);

  // Each enqueues one launch; Unsupported when the device compiles nothing.
  Status launch_empty(cl_mem out);
  // Reads `bytes` of `in`; `fma`: of each loaded float.
  Status launch_reading(cl_mem in, cl_mem out, uint64_t bytes, int fma);
  // As many work-items as for `bytes`, but nothing is read.
  Status launch_computing(cl_mem out, uint64_t bytes, int fma);

  // Floats that a work-item handles.
  uint64_t floats() const { return 4 * width_; }

 private:
  Status build();
  Status launch(const Kernel& kernel, uint64_t items);

  const Session& session_;
  uint64_t width_;  // floats in a vector
  bool built_ = false;
  Kernel empty_, reading_, computing_;
};

}  // namespace gt::bench
