#include "optimizer-rt/client/calls/svm_commands.h"

#include <functional>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/serial_thread.h"
#include "optimizer-rt/client/objects/habits.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {
namespace {

using api::FnId;
using Block = std::shared_ptr<SvmBlock>;

constexpr cl_map_flags Writing = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

Transfer transfer(Command& c, const SvmBlock& block, const void* p, size_t bytes, bool coming = false) {
  const Ids& waits = c.waits();
  return {c.sub_context(),
          c.queue().name,
          block.name,
          block.part(p, bytes),
          1,
          {0, bytes},
          waits,
          coming ? &c.after() : nullptr};
}

// Bytes of the program's go to the block.
void send_to(Command& c, const Block& block, const void* p, const void* from, size_t bytes, Until until) {
  if (bytes > wire::LargestInline) c.want_event();
  const bool coming = c.takes_coming(from, bytes);
  const Transfer t = transfer(c, *block, p, bytes, coming);
  send_write(t, from, c.event() ? &c.want_event() : nullptr, until);
}

// Bytes of the block go to the program's memory.
void send_from(Command& c, const Block& block, const void* p, void* to, size_t bytes, bool blocking) {
  _cl_event& event = c.want_event();
  if (!blocking) c.writes_host(to, bytes);
  send_read(transfer(c, *block, p, bytes), to, event);
}

// A command that does nothing but wait for `waits`. Not a marker in an out-of-order queue: without a list it would wait
// for everything before it, and PoCL's do so with one.
void enqueue_nothing(Command& c, ObjectId event, const Ids& waits) {
  cl_event wanted = nullptr;
  const auto queue = as<cl_command_queue>(c.queue().name);
  const auto n = static_cast<cl_uint>(waits.size());
  cl_event* const out = event ? &wanted : nullptr;
  if (c.queue().properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
    const uint8_t zero[SubContext::ScratchBytes] = {};
    c.session().call<FnId::clEnqueueFillBuffer>({0, event}, queue, as<cl_mem>(c.sub_context().scratch()),
                                                static_cast<const void*>(zero), sizeof zero, size_t{0}, sizeof zero, n,
                                                as_events(waits), out);
  } else {
    c.session().call<FnId::clEnqueueMarkerWithWaitList>({0, event}, queue, n, as_events(waits), out);
  }
}

// A command that this side carries out: `act` runs on a thread of ours when the queue has come to it, and the queue
// goes on when the function that it is given has been called.
void run_here(Command& c, std::function<void(std::function<void()>)> act) {
  _cl_context& context = *c.queue().context;
  const Ref<_cl_event> reached = make<_cl_event>(context, c.sub_context());
  const Ref<_cl_event> done = make<_cl_event>(context);
  reached->completes_after = c.after();
  enqueue_nothing(c, reached->name, c.waits());
  enqueue_nothing(c, c.event(), {done->name_at(c.sub_context())});
  reached->then([done, act = std::move(act)](cl_int status) {
    if (status != CL_COMPLETE) return done->complete(status, 0, 0);
    act([done] { done->complete(CL_COMPLETE, 0, 0); });
  });
  reached->subscribe();
}

void copy_here(Command& c, void* to, const void* from, size_t bytes) {
  _cl_event& event = c.want_event();
  event.keep();
  event.deferred = true;  // what comes after it may take the bytes from here
  c.writes_host(to, bytes);
  run_here(c, [=](const std::function<void()>& over) {
    mover(0).post([=] {
      std::memcpy(to, from, bytes);
      over();
    });
  });
  event.subscribe();
}

void check_queue(cl_command_queue queue) {
  check(queue);
  require(has_svm(*queue->device), CL_INVALID_OPERATION);
}

Block block_of(cl_command_queue queue, const void* p, size_t bytes) {
  Block block = queue->context->svm.find(p, bytes);
  require(p && block, CL_INVALID_VALUE);
  return block;
}

}  // namespace

void check_fill(const void* p, const void* pattern, size_t pattern_size, size_t size) {
  require(p && pattern, CL_INVALID_VALUE);
  const bool sound = pattern_size != 0 && pattern_size <= 128 && (pattern_size & (pattern_size - 1)) == 0;
  require(sound && size % pattern_size == 0, CL_INVALID_VALUE);
  require(reinterpret_cast<uintptr_t>(p) % pattern_size == 0, CL_INVALID_VALUE);
}

bool meet(const void* a, const void* b, size_t bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return (x < y ? y - x : x - y) < bytes;
}

template <FnId F>
cl_int send_copy(Command& c, const SharedCopy& copy, bool blocking) {
  const auto& [to, from, bytes, in, out] = copy;
  c.shared().reads(out, from, bytes);
  c.shared().writes(in, to, bytes);
  if (blocking) {
    c.block();
    c.want_event();
  }
  if (in && out) {
    c.call<F>(as<cl_command_queue>(c.queue().name), cl_bool{CL_FALSE}, to, from, bytes);
  } else if (in) {
    send_to(c, in, to, from, bytes, blocking ? Until::Captured : Until::Sent);
    if (blocking) return c.sent();  // as clEnqueueWriteBuffer: the program's bytes are captured
  } else if (out) {
    send_from(c, out, from, to, bytes, blocking);
  } else {
    copy_here(c, to, from, bytes);
  }
  return blocking ? c.sent_and_wait() : c.sent();
}
template cl_int send_copy<FnId::clEnqueueSVMMemcpy>(Command&, const SharedCopy&, bool);
template cl_int send_copy<FnId::clEnqueueMemcpyINTEL>(Command&, const SharedCopy&, bool);

void order_only(Command& c) {
  const Ids& waits = c.waits();
  enqueue_nothing(c, c.event(), waits);
}

cl_int do_nothing(Command& c, cl_int said, bool blocking) {
  require_success(said);
  if (blocking) {
    c.block();
    c.want_event();
  }
  order_only(c);
  return blocking ? c.sent_and_wait() : c.sent();
}

void send_map(Command& c, const Block& block, void* p, size_t bytes, cl_map_flags flags, bool blocking) {
  if (block->pages) {
    order_only(c);  // pages come when they are touched
  } else if (!block->has_shadow()) {
    c.call<FnId::clEnqueueSVMMap>(as<cl_command_queue>(c.queue().name), cl_bool{CL_FALSE}, flags, p, bytes);
  } else if (flags & CL_MAP_WRITE_INVALIDATE_REGION) {
    order_only(c);
  } else {
    send_from(c, block, p, p, bytes, blocking);
    c.want_event().then([block](cl_int) {});  // the shadow is written until then
  }
  block->note({p, bytes, flags});
}

void send_unmap(Command& c, const Block& block, void* p) {
  SvmBlock::Mapping mapping;
  const bool mapped = block->take(p, mapping);
  if (block->pages) {
    order_only(c);  // and go with the next command that may see them
  } else if (!block->has_shadow()) {
    c.call<FnId::clEnqueueSVMUnmap>(as<cl_command_queue>(c.queue().name), p);
  } else if (!mapped || !(mapping.flags & Writing)) {
    order_only(c);
  } else {
    _cl_event& done = c.want_event();
    const bool coming = c.takes_coming(p, mapping.bytes);
    send_write(transfer(c, *block, p, mapping.bytes, coming), p, &done, Until::Sent, block);
    done.then([block](cl_int) {});  // the shadow is read until then
    done.subscribe();
  }
}

namespace fn {

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void* p, size_t size, cl_uint n,
                       const cl_event* list, cl_event* event) {
  check_queue(queue);
  require((flags & ~(CL_MAP_READ | Writing)) == 0, CL_INVALID_VALUE);
  const bool invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION;
  require(!invalidate || !(flags & (CL_MAP_READ | CL_MAP_WRITE)), CL_INVALID_VALUE);
  require(size != 0, CL_INVALID_VALUE);
  const Block block = block_of(queue, p, size);
  Command c(queue, CL_COMMAND_SVM_MAP, n, list, event);
  if (blocking) {
    c.block();
    c.want_event();
  }
  send_map(c, block, p, size, flags, blocking);
  return blocking ? c.sent_and_wait() : c.sent();
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void* p, cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  const Block block = block_of(queue, p, 0);
  Command c(queue, CL_COMMAND_SVM_UNMAP, n, list, event);
  send_unmap(c, block, p);
  return c.sent();
}

// Which side an address is on tells how the bytes go.
cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t size, cl_uint n,
                          const cl_event* list, cl_event* event) {
  check_queue(queue);
  require(to && from, CL_INVALID_VALUE);
  require(!meet(to, from, size), CL_MEM_COPY_OVERLAP);
  const SvmBlocks& blocks = queue->context->svm;
  const Block in = blocks.find_inside(to), out = blocks.find_inside(from);
  require((!in || in->holds(to, size)) && (!out || out->holds(from, size)), CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_SVM_MEMCPY, n, list, event);
  if (size == 0 && (in || out))
    return do_nothing(
        c, Habits(c.sub_context()).on_nothing(FnId::clEnqueueSVMMemcpy, in ? to : const_cast<void*>(from)), blocking);
  if (size == 0) return do_nothing(c, CL_SUCCESS, blocking);
  return send_copy<FnId::clEnqueueSVMMemcpy>(c, {to, from, size, in, out}, blocking);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void* p, const void* pattern, size_t pattern_size, size_t size,
                           cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  check_fill(p, pattern, pattern_size, size);
  const Block block = block_of(queue, p, size);
  Command c(queue, CL_COMMAND_SVM_MEMFILL, n, list, event);
  if (size == 0) return do_nothing(c, Habits(c.sub_context()).on_nothing(FnId::clEnqueueSVMMemFill, p), false);
  c.shared().writes(block, p, size);
  c.call<FnId::clEnqueueSVMMemFill>(as<cl_command_queue>(queue->name), p, pattern, pattern_size, size);
  return c.sent();
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void** pointers, const size_t* sizes,
                              cl_mem_migration_flags flags, cl_uint n, const cl_event* list, cl_event* event) {
  check_queue(queue);
  constexpr cl_mem_migration_flags Known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  require(count != 0 && pointers && (flags & ~Known) == 0, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; ++i) block_of(queue, pointers[i], sizes ? sizes[i] : 0);
  const bool has_type = queue->device->number<cl_version>(CL_DEVICE_NUMERIC_VERSION) >= CL_MAKE_VERSION(3, 0, 0);
  Command c(queue, has_type ? CL_COMMAND_SVM_MIGRATE_MEM : CL_COMMAND_MIGRATE_MEM_OBJECTS, n, list, event);
  c.call<FnId::clEnqueueSVMMigrateMem>(as<cl_command_queue>(queue->name), count, pointers, sizes, flags);
  return c.sent();
}

cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void** pointers,
                        void(CL_CALLBACK* free_them)(cl_command_queue, cl_uint, void**, void*), void* data, cl_uint n,
                        const cl_event* list, cl_event* event) {
  check_queue(queue);
  require((count == 0) == (pointers == nullptr), CL_INVALID_VALUE);
  Command c(queue, CL_COMMAND_SVM_FREE, n, list, event);
  std::vector<void*> freed(pointers, pointers + count);
  const Ref<_cl_command_queue> kept(queue);
  run_here(c, [kept, freed, free_them, data](const std::function<void()>& over) {
    if (!free_them) {
      for (void* p : freed) fn::clSVMFree(kept->context.get(), p);
      return over();
    }
    callbacks().post([=]() mutable {
      free_them(kept.get(), static_cast<cl_uint>(freed.size()), freed.data(), data);
      over();
    });
  });
  return c.sent();
}

}  // namespace fn
}  // namespace gt::virt
