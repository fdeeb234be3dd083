// What replayed calls need to know of command buffers: the queue that one runs in when its run names none, the kernels
// of its commands, and what its sync points are here: drivers choose these numbers, so a replay's are others than the
// recording's.
// Thread safety: any thread; a lock each time.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "traces/api/api.h"
#include "traces/base/mutex.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

inline bool holds_sync_points(const api::ParamInfo& param) {
  return std::string_view(param.group) == "cl_sync_point_khr";
}

class CommandBuffers {
 public:
  void made(uint64_t command_buffer, uint64_t queue) {
    const MutexLock lock(mutex_);
    queues_[command_buffer] = queue;
  }
  // The first of its queues; 0: not known.
  uint64_t queue(uint64_t command_buffer) const {
    const MutexLock lock(mutex_);
    const auto it = queues_.find(command_buffer);
    return it == queues_.end() ? 0 : it->second;
  }

  // A command that may change launches a kernel of that class.
  void made_command(uint64_t command, model::ClassId kernel) {
    const MutexLock lock(mutex_);
    kernels_[command] = kernel;
  }
  model::ClassId kernel_of(uint64_t command) const {
    const MutexLock lock(mutex_);
    const auto it = kernels_.find(command);
    return it == kernels_.end() ? model::NoIndex : it->second;
  }

  void set_sync_point(uint64_t command_buffer, uint64_t recorded, uint64_t here) {
    const MutexLock lock(mutex_);
    sync_points_[{command_buffer, recorded}] = here;
  }
  // As it was recorded where no call gave it: one that is wrong stays wrong.
  uint64_t sync_point(uint64_t command_buffer, uint64_t recorded) const {
    const MutexLock lock(mutex_);
    const auto it = sync_points_.find({command_buffer, recorded});
    return it == sync_points_.end() ? recorded : it->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<uint64_t, uint64_t> queues_ GT_GUARDED_BY(mutex_);
  std::map<uint64_t, model::ClassId> kernels_ GT_GUARDED_BY(mutex_);
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> sync_points_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::tracer
