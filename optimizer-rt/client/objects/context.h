// A context and its places. A place is one native context, at one platform of one executor; a context whose devices are
// of one platform of one executor has one place, and nothing below needs to think of others. Under --spread each device
// has a place of its own.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/objects/place.h"
#include "optimizer-rt/client/objects/svm.h"
#include "optimizer-rt/client/platform/device.h"
#include "optimizer-rt/client/session/session.h"
#include "transport/moves/native_moves.h"

namespace gt::virt {

using moves::NativeMoves;
using moves::PeerMemory;

// Functions of the program to be called when an object ends, the last one first.
using Farewells = std::vector<std::function<void()>>;
inline void say(const Farewells& list) {
  for (auto it = list.rbegin(); it != list.rend(); ++it) (*it)();
}

}  // namespace gt::virt

struct _cl_context : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Context;
  static constexpr cl_int Invalid = CL_INVALID_CONTEXT;

  _cl_context(const std::vector<_cl_device_id*>& devices, std::vector<cl_context_properties> properties);
  ~_cl_context();

  // CL_INVALID_DEVICE when it is none of the context's.
  gt::virt::Place& place_of(_cl_device_id* device);
  bool one_place() const { return places.size() == 1; }
  gt::virt::Place& living_place();  // the first one that can be reached; without any, the first
  bool has(_cl_device_id* device) const;
  bool has_svm() const;  // may there be shared virtual memory?

  std::vector<gt::virt::Ref<_cl_device_id>> devices;
  const std::vector<cl_context_properties> properties;
  std::vector<std::unique_ptr<gt::virt::Place>> places;
  // Held while a command of a context with several places is put together and sent: what is valid where changes in the
  // order of the commands. No handler of a link takes it.
  std::mutex residency;
  // From place to place inside this process, made when first needed; of the residency, too.
  std::map<std::pair<size_t, size_t>, std::unique_ptr<gt::virt::NativeMoves>> ways;
  // How often an object has got another name at a place; changes with the residency locked.
  std::atomic<uint64_t> renamed{0};
  gt::virt::SvmBlocks svm;
  std::mutex mutex;  // of farewells
  gt::virt::Farewells farewells;
};

namespace gt::virt {

// Those of a list that are to be the context's. Throws CL_INVALID_DEVICE.
std::vector<_cl_device_id*> devices_in(const _cl_context& context, cl_uint n, const cl_device_id* list);

// The names of an object at the places of its context: made where it is first needed.
class Names {
 public:
  explicit Names(const _cl_context& context) : names_(context.places.size()) {}
  template <class Make>
  ObjectId at(const Place& place, Make make) {
    const std::lock_guard lock(mutex_);
    ObjectId& name = names_[place.index];
    if (name == 0) name = make();
    return name;
  }
  ObjectId made_at(const Place& place) {
    const std::lock_guard lock(mutex_);
    return names_[place.index];
  }
  // The name before; 0: none was made.
  ObjectId replace(const Place& place, ObjectId name) {
    const std::lock_guard lock(mutex_);
    return std::exchange(names_[place.index], name);
  }
  // Each that was made, for release. REQUIRES: nobody else uses the object any more.
  template <class Visit>
  void each(const _cl_context& context, Visit visit) {
    for (const auto& place : context.places) {
      if (names_[place->index] == 0 || !place->session.alive()) continue;
      try {
        visit(place->session, names_[place->index]);
      } catch (const Failure&) {  // the link has just closed
      }
    }
  }

 private:
  std::mutex mutex_;
  std::vector<ObjectId> names_;
};

}  // namespace gt::virt
