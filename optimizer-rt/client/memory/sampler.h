// A sampler: three properties, made at a sub-context when a kernel there is first given it.
// Thread safety: any thread; the properties do not change once the program has it. at() may send, and throws a Failure
// when the link is closed.
#pragma once

#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/context.h"

struct _cl_sampler : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Sampler;
  static constexpr cl_int Invalid = CL_INVALID_SAMPLER;

  explicit _cl_sampler(_cl_context& c);
  ~_cl_sampler();
  gt::virt::ObjectId at(gt::virt::SubContext& sub_context);
  // Made at once: our own rules would refuse it. Throws what the driver says.
  void require_native();

  const gt::virt::Ref<_cl_context> context;
  cl_bool normalized = CL_TRUE;
  cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  std::vector<cl_sampler_properties> list;  // as the program gave it, with its final 0; empty: none

 private:
  gt::virt::Names names_;
};

namespace gt::virt {

// Is this the address of a live sampler? For kernel arguments whose kind nobody knows.
Ref<_cl_sampler> live_sampler(const void* handle);

}  // namespace gt::virt
