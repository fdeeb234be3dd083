#include "optimizer-rt/client/session/connection.h"

#include <string_view>
#include <utility>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/session/local_executor.h"
#include "traces/base/text_file.h"
#include "transport/link/connect.h"

namespace gt::virt {
namespace {

Result<Connection> connection_to(Result<OpenedExecutor> opened) {
  if (!opened.ok()) return opened.status();
  return Connection{std::move(opened->link), std::move(opened->executor), {}, {}, {}};
}

// Names are made under what nobody else has: the token, or the private key, of which the proxy is told in confidence.
// Inside a node nothing is named.
ChunkNaming naming_at(const wire::Url& url, const wire::Credentials& proof) {
  ChunkNaming naming;
  if (url.in_node() || dedup() == DedupMode::Never) return naming;
  naming.tells_key = url.is_encrypted();
  constexpr size_t LargestKey = size_t{1} << 16;
  Result<std::string> key = std::string();
  if (naming.tells_key) key = read_text_file(proof.key, LargestKey, "a private key");
  if (!key) return naming;
  const ByteView secret = naming.tells_key ? as_bytes(*key) : ByteView(proof.token);
  if (secret.empty()) return naming;
  naming.key = chunks::key_of(secret);
  naming.mode = dedup();
  return naming;
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
  return Connection{std::move(*link), {}, url, naming_at(*parsed, *proof),
                    parsed->in_node() ? chunks::Packing() : compression()};
}

Result<Connection> connect_to_device(cl_device_id native) { return connection_to(open_device(native)); }

}  // namespace gt::virt
