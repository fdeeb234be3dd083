// A command buffer: the name of one that a driver has, in one sub-context. What is recorded is the driver's; kept here
// is what a run needs to be checked and sent as one message: queues, states, the contents it reads and writes.
// Thread safety: `mutex`; the rest never changes.
#pragma once

#include <CL/cl_ext.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/programs/kernel.h"
#include "traces/base/mutex.h"

// A launch in a command buffer, whose arguments and sizes may change. Lives as long as that.
struct _cl_mutable_command_khr : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::MutableCommand;
  static constexpr cl_int Invalid = CL_INVALID_MUTABLE_COMMAND_KHR;

  _cl_mutable_command_khr(_cl_command_buffer_khr& b, _cl_command_queue& q, _cl_kernel* k, gt::virt::ObjectId n)
      : Object(Kind), buffer(b), queue(&q), kernel(k), name(n) {}

  _cl_command_buffer_khr& buffer;
  const gt::virt::Ref<_cl_command_queue> queue;
  const gt::virt::Ref<_cl_kernel> kernel;
  const gt::virt::ObjectId name;
};

struct _cl_command_buffer_khr : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::CommandBuffer;
  static constexpr cl_int Invalid = CL_INVALID_COMMAND_BUFFER_KHR;

  // The driver makes it before this returns; throws what that says.
  _cl_command_buffer_khr(const std::vector<_cl_command_queue*>& queues, const cl_command_buffer_properties_khr* list);
  ~_cl_command_buffer_khr();

  const gt::virt::Ref<_cl_context> context;
  std::vector<gt::virt::Ref<_cl_command_queue>> queues;
  gt::virt::SubContext& sub_context;
  const gt::virt::ObjectId name;
  const std::vector<cl_command_buffer_properties_khr> properties;  // with their final 0; empty: none
  const bool simultaneous;                                         // it may run several times at once

  gt::Mutex mutex;
  bool finalized GT_GUARDED_BY(mutex) = false;
  // Contents that it needs; true: and writes. As long as the driver may use the objects.
  std::map<_cl_mem*, std::pair<gt::virt::Ref<_cl_mem>, bool>> memory GT_GUARDED_BY(mutex);
  std::vector<gt::virt::Ref<_cl_kernel>> kernels GT_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<_cl_mutable_command_khr>> commands GT_GUARDED_BY(mutex);
  // The last run; of those that may not be several at once.
  gt::virt::Ref<_cl_event> last_run GT_GUARDED_BY(mutex);
  // Lists of queues in place of its own that its driver has taken.
  std::set<std::vector<_cl_command_queue*>> taken GT_GUARDED_BY(mutex);
};
