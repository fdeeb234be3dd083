// One command on its way into a command buffer. Its driver records it at once, and what it says is the answer: so are
// the sync points its own, and the errors.
//
//   Recording r(buffer, queue, n, list, point, handle);
//   r.reads(*from); r.writes(*to);
//   return r.record<FnId::clCommandCopyBufferKHR>(as<cl_mem>(r.name(*from)), ...);
//
// Thread safety: none; on the stack of one call.
#pragma once

#include <utility>
#include <vector>

#include "optimizer-rt/client/base/answers.h"
#include "optimizer-rt/client/calls/command_buffer.h"
#include "traces/api/table.h"

namespace gt::virt {

class Recording {
 public:
  // `queue`: NULL, or one that the driver takes. Throws what is wrong with the handles.
  Recording(cl_command_buffer_khr buffer, cl_command_queue queue, cl_uint n, const cl_sync_point_khr* list,
            cl_sync_point_khr* point, cl_mutable_command_khr* handle);

  void reads(_cl_mem& mem) { use(mem, false); }
  void writes(_cl_mem& mem) { use(mem, true); }
  void use_kernel(_cl_kernel& kernel) { kernel_ = Ref<_cl_kernel>(&kernel); }
  // Checked: a buffer, an image, of the context.
  _cl_mem& buffer(cl_mem mem) { return checked(mem, false); }
  _cl_mem& image(cl_mem mem) { return checked(mem, true); }
  ObjectId name(_cl_mem& mem) { return mem.at(sub_context()); }

  SubContext& sub_context() { return buffer_.sub_context; }
  _cl_command_queue& queue() { return queue_ ? *queue_ : *buffer_.queues[0]; }

  // F's arguments between its queue and its sync points.
  template <api::FnId F, class... A>
  cl_int record(const A&... arguments) {
    Session& session = sub_context().session;
    const ObjectId made = handle_ ? session.new_id() : 0;
    cl_sync_point_khr point = 0;
    cl_mutable_command_khr handle = nullptr;
    const auto buffer = as<cl_command_buffer_khr>(buffer_.name);
    const auto queue = as<cl_command_queue>(queue_ ? queue_->name : 0);
    const auto ask = [&](const auto&... between) {
      return session.ask<F>({made, 0}, buffer, queue, between..., n_, list_, point_ ? &point : nullptr,
                            handle_ ? &handle : nullptr);
    };
    return recorded(F, ask(arguments...), made);
  }

 private:
  _cl_mem& checked(cl_mem mem, bool image);
  void use(_cl_mem& mem, bool written);
  cl_int recorded(api::FnId fn, ByteView outputs, ObjectId made);

  _cl_command_buffer_khr& buffer_;
  _cl_command_queue* const queue_;
  const cl_uint n_;
  const cl_sync_point_khr* const list_;
  cl_sync_point_khr* const point_;
  cl_mutable_command_khr* const handle_;
  std::vector<std::pair<_cl_mem*, bool>> memory_;
  Ref<_cl_kernel> kernel_;
};

// The command buffer uses it from now on. REQUIRES: its mutex.
void note_use(_cl_command_buffer_khr& buffer, _cl_mem& mem, bool written) GT_REQUIRES(buffer.mutex);

}  // namespace gt::virt
