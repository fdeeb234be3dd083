// A sub-context of a context: one native context, at one platform of one executor; and what of ours is there.
// Thread safety: any thread, but queues_made() and scratch_made(), which are for who takes the context apart. What is
// made or asked when it is first needed is so with the mutex held: image_formats() keeps others waiting for its answer.
// All that send throw a Failure when the link is closed.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "optimizer-rt/client/objects/known_habits.h"
#include "optimizer-rt/client/platform/device.h"
#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"

namespace gt::virt {

struct SubContext {
  SubContext(_cl_context& c, _cl_device_id& first, size_t i);
  // A queue of ours, for what no queue of the program's is there for: initial contents, moves through the client.
  ObjectId service_queue();
  // One for moves from and to other proxies: out of order, where the device can, since one that fails must not take
  // others along.
  ObjectId peer_queue();
  // One for what keeps memory in step (transfer/shared_pages.h): nothing in it waits for commands.
  ObjectId shared_queue();
  std::array<ObjectId, 3> queues_made() const { return {service_queue_, peer_queue_, shared_queue_}; }  // 0: not needed
  // A buffer of some bytes that are nobody's.
  ObjectId scratch();
  static constexpr size_t ScratchBytes = 64;
  ObjectId scratch_made() const { return scratch_; }

  _cl_context& context;
  Session& session;
  const ObjectId platform, name;
  const size_t index;
  std::vector<_cl_device_id*> devices;
  // What images it can make, asked once.
  const std::vector<cl_image_format>& image_formats(cl_mem_flags flags, cl_mem_object_type type);
  KnownHabits habits;  // of its driver: habits.h asks

 private:
  ObjectId make_queue(cl_command_queue_properties properties);

  Mutex mutex_;
  std::map<std::pair<cl_mem_flags, cl_mem_object_type>, std::vector<cl_image_format>> formats_
      GT_GUARDED_BY(mutex_);
  ObjectId service_queue_ = 0, peer_queue_ = 0, shared_queue_ = 0, scratch_ = 0;
};

}  // namespace gt::virt
