// A proxy of our own for one device of this machine, on the loopback address and in shared memory, for as long as this
// object lives. Its token and sockets are in a folder of its own. Thread safety: none.
#pragma once

#include "microbench/remote/server_process.h"
#include "microbench/remote/virtual_devices.h"
#include "microbench/base/child.h"

namespace gt::bench {

class OwnProxy {
 public:
  // `device`: its number in goptimize devices.
  static Result<OwnProxy> start(const std::string& tools_folder, uint64_t device);

  const std::string& tcp() const { return tcp_; }
  const std::string& shm() const { return shm_; }
  const std::string& folder() const { return folder_.path(); }
  std::string token_file() const { return folder() + "/token"; }
  pid_t pid() const { return server_.pid(); }

 private:
  OwnProxy(TemporaryFolder folder, ServerProcess server) : folder_(std::move(folder)), server_(std::move(server)) {}

  TemporaryFolder folder_;
  ServerProcess server_;
  std::string tcp_, shm_;
};

}  // namespace gt::bench
