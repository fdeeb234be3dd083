// What the parts of one executor share.
// Thread safety: counters are atomic; everything else is constant or safe by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <utility>

#include "traces/api/roles.h"
#include "traces/base/mutex.h"
#include "transport/executor/base/cl.h"
#include "transport/executor/base/counters.h"
#include "transport/executor/base/emulated_usm.h"
#include "transport/executor/base/in_flight.h"
#include "transport/executor/base/message_sender.h"
#include "transport/executor/base/options.h"
#include "transport/executor/base/threads.h"
#include "transport/link/base/link.h"
#include "transport/protocol/messages.h"

namespace gt::exec {

struct Session {
  Session(const Functions& functions, wire::Link& link, const Limits& limit, Options&& option)
      : all(functions),
        cl(functions),
        limits(limit),
        options(std::move(option)),
        out(link),
        in_flight(limit.in_flight_bytes, std::chrono::milliseconds(limit.in_flight_timeout_ms)) {}

  const Functions all;
  const Cl cl;
  const Limits limits;
  const Options options;
  MessageSender out;
  Threads threads;
  Mutex driver_lock;  // driver_lock.h
  InFlight in_flight;

  // Where the client asked for it, and the driver can have it (emulated_usm.h). Set by the first message, if at all.
  usm::EmulatedUsm* usm = nullptr;

  LiveCounters count;  // in_flight_bytes stays 0: in_flight knows

  // For people: why a transfer was given up.
  void log_stuck() const {
    if (options.log)
      options.log("a transfer is refused: those under way hold " + std::to_string(in_flight.bytes()) + " of " +
                  std::to_string(limits.in_flight_bytes) + " bytes and wait for what the client has not done");
  }

  // An event of the driver's has failed, ever: who waits for events looks at them first (Objects::has_failed).
  std::atomic<bool> events_fail{false};

  // Takes over a reference to an event that failed. Drivers (PoCL 3.1) may still be failing what waits for it when
  // those who wait for the event itself already know: it stays for a while.
  void release_later(cl_event event) {
    events_fail = true;
    const MutexLock lock(mutex_);
    failed_.push_back(event);
    if (failed_.size() <= MostKept) return;
    cl.clReleaseEvent(failed_.front());
    failed_.pop_front();
  }
  ~Session() {
    for (cl_event event : failed_) cl.clReleaseEvent(event);
  }

  // What kernels printed goes ahead of what says that they are over.
  void send_printed() {
    if (!options.take_printed) return;
    const std::string text = options.take_printed();
    if (!text.empty()) out.send(wire::Printed{as_bytes(text)}, true);
  }

  void failed(api::FnId fn, cl_int code, wire::ObjectId object, wire::ObjectId event) {
    ++count.failed;
    out.send(wire::Failed{static_cast<uint16_t>(fn), code, object, event});
  }

 private:
  static constexpr size_t MostKept = 256;
  Mutex mutex_;
  std::deque<cl_event> failed_ GT_GUARDED_BY(mutex_);
};

}  // namespace gt::exec
