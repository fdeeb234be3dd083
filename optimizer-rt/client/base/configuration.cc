#include "optimizer-rt/client/base/configuration.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace gt::virt {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// The token that gproxy made when it was first started; without one, a proxy on this machine may still know us.
std::string token_file() {
  const std::string named = variable("GTRACE_TOKEN_FILE");
  if (!named.empty()) return named;
  const std::string home = variable("HOME"), config = variable("XDG_CONFIG_HOME");
  const std::string usual = (config.empty() ? home + "/.config" : config) + "/gtrace/token";
  return ::access(usual.c_str(), F_OK) == 0 ? usual : "";
}

}  // namespace

std::vector<std::string> remote_urls() {
  std::vector<std::string> urls;
  const std::string all = variable("GTRACE_REMOTE");
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    if (end > at) urls.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return urls;
}

bool spreads() {
  static const bool on = variable("GTRACE_SPREAD") == "1";
  return on;
}
bool emulates_usm() {
  static const bool on = variable("GTRACE_EMULATE_USM") == "1";
  return on;
}
bool sync_errors() {
  static const bool on = variable("GTRACE_SYNC_ERRORS") == "1";
  return on;
}

DedupMode dedup() {
  static const std::string mode = variable("GTRACE_DEDUP");
  return mode == "always" ? DedupMode::Always : mode == "never" ? DedupMode::Never : DedupMode::Auto;
}

chunks::Packing compression() {
  static const std::string mode = variable("GTRACE_COMPRESS");
  unsigned level = 0;
  const auto parsed = std::from_chars(mode.data(), mode.data() + mode.size(), level);
  const bool is_level = parsed.ec == std::errc() && parsed.ptr == mode.data() + mode.size();
  if (is_level && level >= 1 && level <= chunks::Packing::Largest)
    return chunks::Packing::always(static_cast<uint8_t>(level));
  return mode == "never" ? chunks::Packing() : chunks::Packing::automatic();
}

Naming naming() {
  const std::string name = variable("GTRACE_PLATFORM_NAME");
  return name == "native" ? Naming::Native : name == "auto" ? Naming::Auto : Naming::Own;
}

Result<wire::Credentials> credentials(const wire::Url& url) {
  wire::Credentials proof;
  if (url.is_encrypted()) {
    proof.cert = variable("GTRACE_CERT");
    proof.key = variable("GTRACE_KEY");
    proof.ca = variable("GTRACE_CA");
  }
  const std::string file = token_file();
  if (file.empty()) return proof;
  Result<Bytes> token = wire::read_token(file);
  if (!token.ok()) return token.status();
  proof.token = std::move(*token);
  return proof;
}

}  // namespace gt::virt
