// A process and a thread of the trace: what all parts of the collector know of them.
//
// A part that has state of its own for each thread keeps it by itself, in a PerThread. Thread safety: none.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tracer/collect/content_numbers.h"
#include "tracer/collect/known_objects.h"
#include "tracer/collect/module_map.h"
#include "tracer/collect/names.h"
#include "tracer/collect/pending_call.h"
#include "tracer/interpose/thread_path.h"
#include "traces/base/bytes.h"

namespace gt::tracer {

struct TracedProcess {
  uint32_t index;
  int64_t pid;
  Objects objects;
  KnownObjects known{objects};
  ModuleMap modules;
  AddressMap<model::SiteId> sites;          // by address; forgotten when modules change
  AddressMap<model::SiteId> chained_sites;  // by the hash of all addresses of a chain; forgotten likewise
  AddressMap<ObjectRef> unknown;            // pointers that nothing explains, by address
  ContentNumbers contents;                  // of its transfers
  uint64_t calls = 0;
  uint32_t module_changes = 0;

  TracedProcess(uint32_t i, int64_t p, std::vector<model::Module>& table) : index(i), pid(p), modules(table, i, p) {}
  void forget_sites() {
    ++module_changes;
    sites.clear();
    chained_sites.clear();
  }
};

struct TracedThread {
  model::ThreadId id;
  TracedProcess* process;
  int64_t tid = 0;
  interpose::ThreadPath path;
  bool ended = false;  // another one may come in its place
  uint64_t stack_low = 0, stack_high = 0;
  uint64_t sequence = 0;  // Enter records seen: pairs DeviceTime records with their calls

  std::deque<Bytes> external;  // long byte strings that came as chunks, waiting for their call
  Bytes chunk;                 // the one that is still growing

  PendingCall pending;
};

// Something for each thread, made when it is first asked for. Cost: one comparison for the thread that was asked for
// last.
template <class T>
class PerThread {
 public:
  // made(item) runs for a new one.
  template <class Made>
  T& get(const TracedThread& thread, Made&& made) {
    if (thread.id == last_id_) return *last_;
    if (thread.id >= items_.size()) items_.resize(thread.id + 1);
    std::unique_ptr<T>& item = items_[thread.id];
    if (!item) {
      item = std::make_unique<T>();
      made(*item);
    }
    last_id_ = thread.id;
    return *(last_ = item.get());
  }
  T& operator[](const TracedThread& thread) {
    return get(thread, [](T&) {});
  }
  // nullptr: nobody has asked for it yet.
  T* find(const TracedThread& thread) const {
    if (thread.id == last_id_) return last_;
    return thread.id < items_.size() ? items_[thread.id].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<T>> items_;
  model::ThreadId last_id_ = model::NoIndex;
  T* last_ = nullptr;
};

}  // namespace gt::tracer
