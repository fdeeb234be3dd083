// A context and its sub-contexts. A sub-context is one native context, at one platform of one executor; a context whose
// devices are of one platform of one executor has one sub-context, and nothing below needs to think of others. Under
// --spread each device has a sub-context of its own.
// Thread safety: any thread. Devices, properties and sub-contexts never change; ways with the residency, farewells with
// the mutex.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/sub_context.h"
#include "optimizer-rt/client/objects/svm.h"
#include "optimizer-rt/client/platform/device.h"
#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"
#include "transport/moves/native_moves.h"

namespace gt::virt {

using moves::NativeMoves;
using moves::PeerMemory;

// From a sub-context to another, inside this process. `number`: in the order in which a context's ways were made.
struct NativeWay {
  NativeMoves moves;
  const size_t number;
};

// Functions of the program to be called when an object ends, the last one first.
using Farewells = std::vector<std::function<void()>>;
inline void say(const Farewells& list) {
  for (auto it = list.rbegin(); it != list.rend(); ++it) (*it)();
}

}  // namespace gt::virt

struct _cl_command_queue;

struct _cl_context : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Context;
  static constexpr cl_int Invalid = CL_INVALID_CONTEXT;

  _cl_context(const std::vector<_cl_device_id*>& devices, std::vector<cl_context_properties> properties);
  ~_cl_context();

  // CL_INVALID_DEVICE when it is none of the context's.
  gt::virt::SubContext& sub_context_of(_cl_device_id* device);
  bool one_sub_context() const { return sub_contexts.size() == 1; }
  gt::virt::SubContext& living_sub_context();  // the first one that can be reached; without any, the first
  bool has(_cl_device_id* device) const;
  bool has_svm() const;  // may there be shared virtual memory?
  bool has_usm() const;  // and unified shared memory?
  std::vector<gt::virt::Ref<_cl_command_queue>> living_queues();

  std::vector<gt::virt::Ref<_cl_device_id>> devices;
  const std::vector<cl_context_properties> properties;
  std::vector<std::unique_ptr<gt::virt::SubContext>> sub_contexts;
  // Held while a command of a context with several sub-contexts is put together and sent: what is valid where changes
  // in the order of the commands. No handler of a link takes it.
  gt::Mutex residency;
  // By the indices of two sub-contexts, made when first needed; of the residency, too.
  std::map<std::pair<size_t, size_t>, std::unique_ptr<gt::virt::NativeWay>> ways;
  // How often an object has got another name at a sub-context; changes with the residency locked.
  std::atomic<uint64_t> renamed{0};
  gt::virt::SvmBlocks svm, usm;
  gt::Mutex mutex;
  gt::virt::Farewells farewells GT_GUARDED_BY(mutex);
  std::vector<_cl_command_queue*> queues GT_GUARDED_BY(mutex);  // each until it ends
};

namespace gt::virt {

// Those of a list that are to be the context's. Throws CL_INVALID_DEVICE.
std::vector<_cl_device_id*> devices_in(const _cl_context& context, cl_uint n, const cl_device_id* list);

// The names of an object at the sub-contexts of its context: made where it is first needed.
// Thread safety: any thread, but each(). `make` runs with the lock held, so that an object is made once: it may send,
// and may not ask for a name of this object. What it throws leaves the object without a name there.
class Names {
 public:
  explicit Names(const _cl_context& context) : names_(context.sub_contexts.size()) {}
  template <class Make>
  ObjectId at(const SubContext& sub_context, Make make) {
    const MutexLock lock(mutex_);
    ObjectId& name = names_[sub_context.index];
    if (name == 0) name = make();
    return name;
  }
  ObjectId made_at(const SubContext& sub_context) {
    const MutexLock lock(mutex_);
    return names_[sub_context.index];
  }
  // The name before; 0: none was made.
  ObjectId replace(const SubContext& sub_context, ObjectId name) {
    const MutexLock lock(mutex_);
    return std::exchange(names_[sub_context.index], name);
  }
  // Each that was made, for release. REQUIRES: nobody else uses the object any more.
  template <class Visit>
  void each(const _cl_context& context, Visit visit) GT_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& sub_context : context.sub_contexts) {
      if (names_[sub_context->index] == 0 || !sub_context->session.alive()) continue;
      try {
        visit(sub_context->session, names_[sub_context->index]);
      } catch (const Failure&) {  // the link has just closed
      }
    }
  }

 private:
  gt::Mutex mutex_;
  std::vector<ObjectId> names_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::virt
