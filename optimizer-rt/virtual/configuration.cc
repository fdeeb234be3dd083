#include "optimizer-rt/virtual/configuration.h"

#include <cstdlib>
#include <string_view>

#include "optimizer-rt/virtual/local_executor.h"

namespace gt::virt {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
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

bool sync_errors() {
  static const bool on = variable("GTRACE_SYNC_ERRORS") == "1";
  return on;
}

Result<Connection> connect_to(const std::string& url) {
  constexpr std::string_view Local = "local:";
  if (url.starts_with(Local)) return connect_to_driver(url.substr(Local.size()));
  return Status(Kind::Unsupported, "only local: is known");
}

}  // namespace gt::virt
