#include "transport/link/hello/url.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace gt::wire {
namespace {

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

bool read_host(std::string_view text, Url& url) {
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

const char* parse_name(std::string_view rest, Url& url) {
  url.name = rest;
  return url.name.empty() || url.name.starts_with("//") ? "names no socket" : nullptr;
}

std::string print_name(const Url& url) { return url.name; }

const char* parse_host(std::string_view rest, Url& url) {
  if (rest.ends_with('/')) rest.remove_suffix(1);
  return read_host(rest, url) ? nullptr : "has no valid HOST:PORT";
}

std::string print_host(const Url& url) {
  const std::string host = url.host.find(':') == url.host.npos ? url.host : "[" + url.host + "]";
  return host + ":" + std::to_string(url.port);
}

std::string to_text(const Url& url) {
  return url.scheme ? std::string(url.scheme->prefix) + url.scheme->print(url) : std::string();
}

std::string socket_path(const Url& url) {
  if (url.name.find('/') != url.name.npos) return url.name;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder =
      runtime && *runtime ? runtime + std::string("/gtrace") : "/tmp/gtrace-" + std::to_string(::getuid());
  return folder + "/" + url.name + ".sock";
}

bool is_local(const Url& url) {
  return url.in_node() || url.host == "localhost" || url.host.starts_with("127.") || url.host == "::1";
}

}  // namespace gt::wire
