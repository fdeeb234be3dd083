#include "optimizer-rt/client/session/connection.h"

#include <string_view>
#include <utility>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/session/local_executor.h"
#include "transport/link/connect.h"

namespace gt::virt {
namespace {

Result<Connection> connection_to(Result<OpenedExecutor> opened) {
  if (!opened.ok()) return opened.status();
  return Connection{std::move(opened->link), std::move(opened->executor), {}};
}

}  // namespace

Result<Connection> connect_to(const std::string& url) {
  constexpr std::string_view Local = "local:";
  if (url.starts_with(Local)) return connection_to(open_driver(url.substr(Local.size())));
  const Result<wire::Url> parsed = wire::parse_url(url);
  if (!parsed.ok()) return parsed.status();
  Result<wire::Credentials> proof = credentials(*parsed);
  if (!proof.ok()) return proof.status();
  Result<std::unique_ptr<wire::Link>> link = wire::connect(*parsed, *proof);
  if (!link.ok()) return link.status();
  return Connection{std::move(*link), {}, url};
}

Result<Connection> connect_to_device(cl_device_id native) { return connection_to(open_device(native)); }

}  // namespace gt::virt
