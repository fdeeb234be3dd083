// What a kernel's arguments say to its executor: which contents they need, and those that have changed.
// Thread safety: with the kernel's mutex.
#pragma once

#include <vector>

#include "optimizer-rt/client/calls/shared_use.h"
#include "optimizer-rt/client/programs/kernel.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

// Does a launch with this argument count as writing the object?
bool is_written(const _cl_kernel& kernel, size_t index, const _cl_mem& mem);

// Hands the memory objects among the arguments to `user`: reads(mem), writes(mem).
template <class User>
void use_arguments(_cl_kernel& kernel, User& user) GT_REQUIRES(kernel.mutex) {
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    const ArgValue& arg = kernel.args[i];
    require(arg.form != ArgValue::Form::Unset, CL_INVALID_KERNEL_ARGS);
    if (arg.form != ArgValue::Form::Mem || !arg.mem) continue;
    const Ref<_cl_mem> mem = live_mem(arg.mem);
    require(mem && mem->serial == arg.serial, CL_INVALID_KERNEL_ARGS);  // released since
    is_written(kernel, i, *mem) ? user.writes(*mem) : user.reads(*mem);
  }
}

// What it may see and write of memory that the program uses as it likes, but for buffers.
void use_shared(const _cl_kernel& kernel, SharedUse& use) GT_REQUIRES(kernel.mutex);

wire::KernelArg message_of(uint32_t index, const ArgValue& arg, SubContext& sub_context);

// Those that the sub-context does not know yet; it does from now on. The kernel is locked until they have been sent.
std::vector<wire::KernelArg> changed_arguments(_cl_kernel& kernel, SubContext& sub_context) GT_REQUIRES(kernel.mutex);

// What the kernel reaches through other pointers.
void tell_reaches(_cl_kernel& kernel, SubContext& sub_context) GT_REQUIRES(kernel.mutex);

}  // namespace gt::virt
