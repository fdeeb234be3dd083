// The process that people start: lets callers in, keeps workers, answers questions. It loads no driver, and of what
// strangers send it looks at the 64 bytes of a hello.
//
//   Acceptor ─ Caller ─► WorkerPool ─ hand_over ─► workers   SIGTERM, SIGINT: drain, then end; SIGHUP: renew workers
//   TextServer: status (Unix socket, same user), metrics     SIGCHLD: reap
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/gproxy/acceptor.h"
#include "transport/gproxy/chunk_stores.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/serve.h"
#include "transport/gproxy/status.h"
#include "transport/gproxy/text_server.h"
#include "transport/gproxy/worker_pool.h"

namespace gt::proxy {

class Supervisor {
 public:
  // `environment`: for workers, besides ours. `devices`: those that are served.
  Supervisor(const ServeOptions& options, std::vector<DeviceFacts> devices, std::vector<std::string> environment)
      : options_(options),
        environment_(std::move(environment)),
        chunk_stores_(options.plan.store_bytes, options.store_folder) {
    facts_.devices = std::move(devices);
    facts_.most_sessions = options.max_clients;
  }
  ~Supervisor();

  // Opens every place; nobody is let in before run().
  Status open();
  const std::vector<wire::Url>& urls() const { return urls_; }

  void run();  // until it is told to end and every session is over

 private:
  Status open_places();
  Status open_status(const wire::Url& rendezvous);
  Status open_signals();
  Status lower_max_clients();
  Moment moment() const;
  void read_signals();
  void on_signal(int signal);
  void drain();
  void end_sessions();
  void emptied();

  ServeOptions options_;
  std::vector<std::string> environment_;
  ChunkStores chunk_stores_;
  ProxyFacts facts_;
  std::vector<wire::Url> urls_;
  std::string status_path_;
  bool draining_ = false, ending_ = false;
  std::unique_ptr<EventLoop> loop_;
  Fd signals_;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<TextServer> status_, metrics_;
  EventLoop::Timer drain_over_, last_resort_;
  EventLoop::Watch signals_watch_;  // goes before the descriptor and the loop
};

}  // namespace gt::proxy
