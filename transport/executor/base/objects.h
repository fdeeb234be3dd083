// The client's objects: names to native handles.
//
// Invariants: a name is given once; the table holds one native reference to each handle. An event whose command was
// never enqueued has no handle: it failed, and what waits for it fails too.
// Thread safety: none; the control channel uses it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "traces/api/roles.h"
#include "transport/executor/base/command_buffer.h"
#include "transport/executor/base/id_map.h"
#include "transport/executor/base/queue.h"
#include "transport/executor/base/session.h"
#include "transport/executor/base/svm_block.h"

namespace gt::exec {

using api::ObjectKind;
using wire::ObjectId;

// Kinds that C has one type for.
constexpr ObjectKind family(ObjectKind kind) {
  return kind == ObjectKind::Image || kind == ObjectKind::Pipe ? ObjectKind::Buffer : kind;
}
// What OpenCL says of a handle that is none.
cl_int invalid(ObjectKind kind);

// What a kernel's arguments are, as far as the driver tells.
struct KernelFacts {
  std::vector<wire::ArgInfo::Kind> args;
  std::vector<bool> given;  // by launches: PoCL 3.1 ends when a launch is recorded that lacks some
};

// What a transfer moves: a memory object, or shared virtual memory.
struct Memory {
  cl_mem mem = nullptr;
  std::shared_ptr<SvmBlock> svm;
  void retain(const Cl& cl) const {
    if (mem) cl.clRetainMemObject(mem);
  }
  void release(const Cl& cl) {
    if (mem) cl.clReleaseMemObject(std::exchange(mem, nullptr));
    svm.reset();
  }
};

struct Object {
  ObjectKind kind = ObjectKind::Unknown;
  bool user_event = false, pending = false;  // events; pending: a user event without a status
  bool told_by_itself = false;  // events: its completion is reported without being asked for
  bool over = false;            // events: nothing needs to wait for it any more
  cl_int failed = 0;        // events: the error of a command that was never enqueued
  uint32_t element = 1;     // images: bytes of an element
  void* handle = nullptr;
  uint64_t bytes = 0;       // memory objects: how large they are
  uint64_t counted = 0;     // ... and how much of that is memory of their own
  uint64_t order = 0;       // events: in their queue
  int64_t enqueued_ns = 0;  // events of queues that take times
  std::shared_ptr<Queue> queue;  // of an event; a queue itself
  std::shared_ptr<KernelFacts> kernel;
  cl_int refused = 0;  // kernels: why the arguments for a recording could not be set
  std::shared_ptr<CommandBuffer> command_buffer;  // itself, or a command's in it
  std::shared_ptr<const ExtensionDriver> driver;  // semaphores: whose they are
  std::shared_ptr<SvmBlock> svm;  // a block of it, or what a buffer lies over

  template <class T>
  T as() const { return static_cast<T>(handle); }
  Memory memory() const { return kind == ObjectKind::Svm ? Memory{nullptr, svm} : Memory{as<cl_mem>(), nullptr}; }
};

class Objects {
 public:
  explicit Objects(Session& session) : session_(session) {}

  Object* find(ObjectId id, ObjectKind kind) {
    Object* const object = map_.find(id);
    return object && family(object->kind) == family(kind) ? object : nullptr;
  }
  // CL_SUCCESS when `count` names from `first` on may be given to new objects.
  cl_int may_name(ObjectId first, uint64_t count = 1);
  Object& add(ObjectId id, Object object);
  // Drops the native reference.
  void remove(ObjectId id);
  void remove_all();

  // Platforms and devices, which have one name for as long as the session lives.
  ObjectId discovered(ObjectKind kind, void* handle);
  // The name of a native handle; 0: it has none. Cost: a look at every object.
  ObjectId name_of(ObjectKind kind, void* handle);

  // The block that [address, address + length) lies in; nullptr: none. Only those that have a name.
  Object* find_svm(uint64_t address, uint64_t length = 0);
  bool has_svm() const { return !svm_.empty(); }
  // The block that begins there loses its name: as remove().
  void remove_svm(uint64_t address);

  // A command that waits for it fails, too, and is not handed to the driver: PoCL (3.1 to 7.1) never ends a command
  // that is enqueued behind an event that has failed already.
  bool has_failed(const Object& event) const;
  // The native events of a wait list, valid until the next call. Fails as the command then does.
  cl_int wait_list(std::span<const ObjectId> ids, std::span<const cl_event>& out);

  template <class Visit>
  void each_queue(Visit visit) {
    map_.each([&](ObjectId, Object& object) {
      if (object.kind == ObjectKind::Queue) visit(object.queue);
    });
  }

  // Drops one native reference.
  void release(ObjectKind kind, void* handle);
  // Of what extensions make: theirs, too.
  void release(Object& object);
  // The user event has got a status.
  void note_status(ObjectId event);
  // User events that have no status get one: nothing may wait for ever.
  void fail_user_events();

 private:
  void fail_user_event(Object& object);

  Session& session_;
  IdMap<Object> map_;
  std::map<uint64_t, ObjectId> svm_;  // by address
  ObjectId next_surveyed_ = wire::FirstSurveyed;
  std::vector<cl_event> waits_;
};

}  // namespace gt::exec
