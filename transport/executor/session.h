// What the parts of one executor share.
// Thread safety: counters are atomic; everything else is constant or safe by itself.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "transport/executor/cl.h"
#include "transport/executor/executor.h"
#include "transport/executor/outbox.h"
#include "transport/executor/threads.h"

namespace gt::exec {

struct Session {
  Session(const Functions& functions, wire::Link& link, const Limits& limit, Options&& option)
      : all(functions), cl(functions), limits(limit), options(std::move(option)), out(link) {}

  const Functions all;
  const Cl cl;
  const Limits limits;
  const Options options;
  Outbox out;
  Threads threads;
  std::atomic<bool> closing{false};
  std::mutex turns;  // turns.h

  struct {
    std::atomic<uint64_t> calls{0}, launches{0}, writes{0}, reads{0}, builds{0}, failed{0};
    std::atomic<uint64_t> written_bytes{0}, read_bytes{0}, peer_in_bytes{0}, peer_out_bytes{0};
    std::atomic<uint64_t> objects{0}, memory_bytes{0}, in_flight_bytes{0};
  } count;

  // Host memory that is held until a command is over: counted against the limit.
  bool hold(uint64_t bytes) {
    const uint64_t now = count.in_flight_bytes.fetch_add(bytes) + bytes;
    if (limits.in_flight_bytes == 0 || now <= limits.in_flight_bytes) return true;
    count.in_flight_bytes -= bytes;
    return false;
  }
  void let_go(uint64_t bytes) { count.in_flight_bytes -= bytes; }

  // Takes over a reference to an event that failed. Drivers (PoCL 3.1) may still be failing what waits for it when
  // those who wait for the event itself already know: it stays for a while.
  void release_later(cl_event event) {
    const std::lock_guard lock(x_mutex);
    x_failed.push_back(event);
    if (x_failed.size() <= MostKept) return;
    cl.clReleaseEvent(x_failed.front());
    x_failed.pop_front();
  }
  ~Session() {
    for (cl_event event : x_failed) cl.clReleaseEvent(event);
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
  std::mutex x_mutex;
  std::deque<cl_event> x_failed;
};

}  // namespace gt::exec
