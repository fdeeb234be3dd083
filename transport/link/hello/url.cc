#include "transport/link/hello/url.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace gt::wire {
namespace {

Status bad(std::string_view text, const std::string& why) {
  return {Kind::Invalid, "the URL '" + std::string(text) + "' " + why +
                             ": shm:NAME, tcp://HOST:PORT or tls://HOST:PORT is expected"};
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool parse_port(std::string_view digits, uint16_t& port) {
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  return error == std::errc() && stop == end;
}

// HOST, HOST:PORT, [V6], [V6]:PORT
bool parse_host(std::string_view text, Url& url) {
  url.port = DefaultPort;
  std::string_view rest;
  if (take_prefix(text, "[")) {
    const size_t close = text.find(']');
    if (close == text.npos) return false;
    url.host = text.substr(0, close);
    rest = text.substr(close + 1);
  } else {
    const size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    rest = colon == text.npos ? "" : text.substr(colon);
  }
  if (url.host.empty() || url.host.find_first_of("/[] ") != url.host.npos) return false;
  return rest.empty() || (take_prefix(rest, ":") && parse_port(rest, url.port));
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  Url url;
  std::string_view rest = text;
  if (take_prefix(rest, "shm:")) {
    url.scheme = Url::Scheme::Shm;
    url.name = rest;
    if (url.name.empty() || url.name.starts_with("//")) return bad(text, "names no socket");
    return url;
  }
  if (take_prefix(rest, "tcp://"))
    url.scheme = Url::Scheme::Tcp;
  else if (take_prefix(rest, "tls://"))
    url.scheme = Url::Scheme::Tls;
  else
    return bad(text, "has no scheme that is known");
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (!parse_host(rest, url)) return bad(text, "has no valid HOST:PORT");
  return url;
}

std::string to_text(const Url& url) {
  if (url.scheme == Url::Scheme::Shm) return "shm:" + url.name;
  const std::string host = url.host.find(':') == url.host.npos ? url.host : "[" + url.host + "]";
  return (url.scheme == Url::Scheme::Tcp ? "tcp://" : "tls://") + host + ":" + std::to_string(url.port);
}

std::string socket_path(const Url& url) {
  if (url.name.find('/') != url.name.npos) return url.name;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder =
      runtime && *runtime ? runtime + std::string("/gtrace") : "/tmp/gtrace-" + std::to_string(::getuid());
  return folder + "/" + url.name + ".sock";
}

bool is_local(const Url& url) {
  return url.scheme == Url::Scheme::Shm || url.host == "localhost" || url.host.starts_with("127.") || url.host == "::1";
}

}  // namespace gt::wire
