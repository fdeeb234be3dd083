#include "tests/unit/link/link_pairs.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "transport/link/local_link.h"
#include "transport/link/tls.h"

namespace gt::wire {
namespace {

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/gtrace-links-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

bool make_certificates(const std::string& folder) {
  const std::string command =
      "cd " + folder +
      " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority"
      " -keyout ca.key -out ca.pem 2>/dev/null"
      " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=node -keyout node.key -out node.csr"
      " 2>/dev/null && printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\\n' > ext"
      " && openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out node.pem"
      " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

Url listen_url(const LinkKind& kind) {
  const std::string scheme = kind.scheme;
  static int count = 0;
  if (scheme == "shm") return *parse_url("shm:" + scratch_folder() + "/s" + std::to_string(++count));
  return *parse_url(scheme + "://127.0.0.1:0");
}

}  // namespace

std::string scratch_folder() {
  static const Folder folder;
  return folder.path;
}

Credentials token_credentials(uint8_t seed) {
  Credentials c;
  c.token.assign(TokenBytes, seed);
  return c;
}

Credentials certificate_credentials() {
  static const bool made = Tls::available().ok() && make_certificates(scratch_folder());
  Credentials c;
  if (!made) return c;
  c.cert = scratch_folder() + "/node.pem";
  c.key = scratch_folder() + "/node.key";
  c.ca = scratch_folder() + "/ca.pem";
  return c;
}

const std::vector<LinkKind>& link_kinds() {
  static const std::vector<LinkKind> kinds = [] {
    std::vector<LinkKind> k{{"local", "local"},          {"shm", "shm"},
                            {"tcp", "tcp"},              {"tcp, relay", "tcp", 0},
                            {"tcp, 50 us", "tcp", 50},   {"tcp, 200 us", "tcp", 200},
                            {"tcp, 10 ms", "tcp", 10000}};
    if (!certificate_credentials().ca.empty()) k.push_back({"tls", "tls"});
    return k;
  }();
  return kinds;
}

LinkPair make_pair(const LinkKind& kind, LinkOptions options) {
  LinkPair pair;
  if (std::string(kind.scheme) == "local") {
    std::tie(pair.a, pair.b) = make_local_link();
    return pair;
  }
  const Credentials credentials =
      std::string(kind.scheme) == "tls" ? certificate_credentials() : token_credentials();
  pair.server = std::make_unique<TestServer>(listen_url(kind), credentials, options);
  REQUIRE_MESSAGE(pair.server->error().ok(), pair.server->error().text());
  Url url = pair.server->url();
  if (kind.delay_us >= 0) {
    pair.relay = std::make_unique<relay::Relay>(url.port);
    pair.relay->delay_us(static_cast<uint64_t>(kind.delay_us));
    url.port = pair.relay->port();
  }
  auto link = connect(url, credentials, options);
  REQUIRE_MESSAGE(link, link.status().text());
  pair.a = std::move(*link);
  pair.b = pair.server->next();
  REQUIRE(pair.b);
  return pair;
}

}  // namespace gt::wire
