// Launch messages: the arguments that changed, then the launch.
// Cost: a look-up for each name and the driver's own calls; no allocation but the driver's.
// Thread safety: none; the control channel uses it.
#pragma once

#include "transport/executor/base/commands.h"

namespace gt::exec {

class Launches {
 public:
  explicit Launches(Commands& commands) : commands_(commands) {}

  void run(const wire::Launch& launch);

 private:
  void set_for_recording(const wire::Launch& launch);
  cl_int set_args(Object& kernel, const wire::Launch& launch);
  cl_int set_arg(const Object& kernel, const wire::KernelArg& arg);
  cl_int set_svm(cl_kernel kernel, cl_uint index, uint64_t address);
  cl_int set_object(cl_kernel kernel, cl_uint index, ObjectId id);

  Commands& commands_;
};

// A number where the kernel has a pointer would be taken for a handle by the driver.
bool may_be(const KernelFacts& facts, const wire::KernelArg& arg);
// What the driver tells of a kernel's arguments; Unknown where it does not.
std::shared_ptr<KernelFacts> kernel_facts(const Cl& cl, cl_kernel kernel);
wire::ArgInfo arg_info(const Cl& cl, cl_kernel kernel, cl_uint index, bool& told);

}  // namespace gt::exec
