#include "microbench/remote/own_proxy.h"

namespace gt::bench {

Result<OwnProxy> OwnProxy::start(const std::string& tools_folder, uint64_t device) {
  Result<TemporaryFolder> folder = TemporaryFolder::make("gmicrobench");
  if (!folder) return folder.status();
  const std::string& path = folder->path();
  Result<ServerProcess> server = ServerProcess::start(
      {tools_folder + "/gproxy", "serve", "--listen", "tcp://127.0.0.1:0", "--devices", std::to_string(device),
       "--drain", "0", "--token-file", path + "/token"},
      {{"XDG_CONFIG_HOME", path}, {"XDG_RUNTIME_DIR", path}}, path + "/log", "use it:");
  if (!server) return server.status();
  OwnProxy proxy(std::move(*folder), std::move(*server));
  proxy.tcp_ = proxy.server_.said("at     tcp://");
  const std::string port = proxy.tcp_.substr(proxy.tcp_.rfind(':') + 1);
  proxy.tcp_ = "tcp://" + proxy.tcp_;
  proxy.shm_ = "shm:" + proxy.folder() + "/gtrace/" + port + ".sock";
  return proxy;
}

}  // namespace gt::bench
