// What another process may look at when the one that replays has died: the call that it was making.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "traces/model/fold/event.h"

namespace gt::tracer {

struct LastCall {
  std::atomic<uint64_t> number{0};
  std::atomic<uint32_t> thread{0}, fn{0};

  void note(model::ThreadId of, model::FnId function, uint64_t call) {
    thread.store(of, std::memory_order_relaxed);
    note(function, call);
  }
  void note(model::FnId function, uint64_t call) {  // of the same thread
    fn.store(function, std::memory_order_relaxed);
    number.store(call, std::memory_order_relaxed);
  }
};

}  // namespace gt::tracer
