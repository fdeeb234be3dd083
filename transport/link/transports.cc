#include "transport/link/transports.h"

#include <algorithm>
#include <string>

#include "transport/link/hello/tls.h"
#include "transport/link/net/tcp_transport.h"
#include "transport/link/node/shm_transport.h"

namespace gt::wire {
namespace {

Status always() { return {}; }

// scheme: prefix, form, in node, encrypted, parse, print;           available       takes      begin      accept
constexpr Transport Transports[] = {
    {{"shm:", "NAME", true, false, parse_name, print_name},          always,         takes_shm, begin_shm, accept_shm},
    {{"tcp://", "HOST:PORT", false, false, parse_host, print_host},  always,         takes_tcp, begin_tcp, accept_tcp},
    {{"tls://", "HOST:PORT", false, true, parse_host, print_host},   Tls::available, takes_tls, begin_tcp, accept_tcp},
};

Status bad(std::string_view text, const char* why) {
  std::string forms;
  const size_t count = std::size(Transports);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) forms += i + 1 < count ? ", " : " or ";
    forms.append(Transports[i].scheme.prefix).append(Transports[i].scheme.form);
  }
  return {Kind::Invalid, "the URL '" + std::string(text) + "' " + why + ": " + forms + " is expected"};
}

template <typename Is>
const Transport* first(const Is& is) {
  const auto found = std::find_if(std::begin(Transports), std::end(Transports), is);
  return found != std::end(Transports) ? found : nullptr;
}

}  // namespace

std::span<const Transport> transports() { return Transports; }

const Transport* transport_of(const Url& url) {
  return first([&](const Transport& t) { return &t.scheme == url.scheme; });
}

const Transport* transport_of(int connection, const Hello& hello) {
  return first([&](const Transport& t) { return t.takes(connection, hello); });
}

Result<Url> parse_url(std::string_view text) {
  const Transport* const of = first([&](const Transport& t) { return text.starts_with(t.scheme.prefix); });
  if (!of) return bad(text, "has no scheme that is known");
  Url url;
  url.scheme = &of->scheme;
  if (const char* const wrong = of->scheme.parse(text.substr(of->scheme.prefix.size()), url)) return bad(text, wrong);
  return url;
}

Url node_url(std::string name) {
  return {&first([](const Transport& t) { return t.scheme.in_node; })->scheme, std::move(name), {}, 0};
}

}  // namespace gt::wire
