// Commands on unified shared memory: clEnqueueMem*INTEL.
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/calls/command.h"
#include "optimizer-rt/client/calls/svm_commands.h"

namespace gt::virt {
namespace {

using api::FnId;
using Block = std::shared_ptr<SvmBlock>;

void check_queue(cl_command_queue queue) {
  check(queue);
  require(has_usm(*queue->device), CL_INVALID_OPERATION);
}

// The one that the range lies in; nullptr: memory of the program's own.
Block find(const _cl_command_queue& queue, const void* p, size_t bytes) {
  Block block = queue.context->usm.find_inside(p);
  require(!block || (block->holds(p, bytes) && &block->sub_context == &queue.sub_context), CL_INVALID_VALUE);
  return block;
}

Block block_of(const _cl_command_queue& queue, const void* p, size_t bytes) {
  Block block = find(queue, p, bytes);
  require(block != nullptr, CL_INVALID_VALUE);
  return block;
}

// Drivers refuse advice and migrations as they like.
cl_int sent_if_taken(Command& c) {
  c.require_taken();
  return c.sent();
}

}  // namespace

namespace fn {

cl_int clEnqueueMemcpyINTEL(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t size,
                            cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  require(to && from, CL_INVALID_VALUE);
  require(!meet(to, from, size), CL_MEM_COPY_OVERLAP);
  const SharedCopy copy{to, from, size, find(*queue, to, size), find(*queue, from, size)};
  Command c(queue, CL_COMMAND_MEMCPY_INTEL, n, list, event);
  if (size == 0) return do_nothing(c, CL_SUCCESS, blocking);
  return send_copy<FnId::clEnqueueMemcpyINTEL>(c, copy, blocking);
}

cl_int clEnqueueMemFillINTEL(cl_command_queue queue, void* p, const void* pattern, size_t pattern_size, size_t size,
                             cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  check_fill(p, pattern, pattern_size, size);
  const Block block = block_of(*queue, p, size);
  Command c(queue, CL_COMMAND_MEMFILL_INTEL, n, list, event);
  if (size == 0) return do_nothing(c, CL_SUCCESS, false);
  c.shared().writes(block, p, size);
  c.call<FnId::clEnqueueMemFillINTEL>(as<cl_command_queue>(queue->name), p, pattern, pattern_size, size);
  return c.sent();
}

cl_int clEnqueueMemsetINTEL(cl_command_queue queue, void* p, cl_int value, size_t size, cl_uint n, const cl_event* list,
                            cl_event* event) {
  check_queue(queue);
  require(p, CL_INVALID_VALUE);
  const Block block = block_of(*queue, p, size);
  Command c(queue, CL_COMMAND_MEMFILL_INTEL, n, list, event);
  if (size == 0) return do_nothing(c, CL_SUCCESS, false);
  c.shared().writes(block, p, size);
  c.call<FnId::clEnqueueMemsetINTEL>(as<cl_command_queue>(queue->name), p, value, size);
  return c.sent();
}

cl_int clEnqueueMigrateMemINTEL(cl_command_queue queue, const void* p, size_t size, cl_mem_migration_flags flags,
                                cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  constexpr cl_mem_migration_flags Known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  require(p && (flags & ~Known) == 0, CL_INVALID_VALUE);
  block_of(*queue, p, size);
  Command c(queue, CL_COMMAND_MIGRATEMEM_INTEL, n, list, event);
  c.want_event();
  c.call<FnId::clEnqueueMigrateMemINTEL>(as<cl_command_queue>(queue->name), p, size, flags);
  return sent_if_taken(c);
}

cl_int clEnqueueMemAdviseINTEL(cl_command_queue queue, const void* p, size_t size, cl_mem_advice_intel advice,
                               cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  require(p, CL_INVALID_VALUE);
  block_of(*queue, p, size);
  Command c(queue, CL_COMMAND_MEMADVISE_INTEL, n, list, event);
  c.want_event();
  c.call<FnId::clEnqueueMemAdviseINTEL>(as<cl_command_queue>(queue->name), p, size, advice);
  return sent_if_taken(c);
}

}  // namespace fn
}  // namespace gt::virt
