#include "tests/unit/link/link_pairs.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>

#include "transport/link/local_link.h"
#include "transport/link/hello/tls.h"

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

// Where servers listen: at another address than that of this node, in another network namespace.
struct FarHost {
  std::string address = "127.0.0.1", network;
};

const FarHost& far_host() {
  static const FarHost host = [] {
    FarHost far;
    const char* const told = std::getenv("GT_TEST_FAR_HOST");  // ADDRESS NAMESPACE
    const std::string text = told ? told : "";
    if (const size_t space = text.find(' '); space != std::string::npos)
      far = {text.substr(0, space), "/run/netns/" + text.substr(space + 1)};
    return far;
  }();
  return host;
}

// The calling thread, and what it starts, is there for a while: sockets stay where they were made.
class OnFarHost {
 public:
  OnFarHost() {
    if (far_host().network.empty()) return;
    home_ = Fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    const Fd far(::open(far_host().network.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE_MESSAGE(::setns(far.get(), CLONE_NEWNET) == 0, far_host().network);
  }
  ~OnFarHost() {
    if (home_.get() >= 0 && ::setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
  }

 private:
  Fd home_;
};

bool make_certificates(const std::string& folder) {
  const std::string command =
      "cd " + folder +
      " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority"
      " -keyout ca.key -out ca.pem 2>/dev/null"
      " && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=node -keyout node.key -out node.csr"
      " 2>/dev/null && printf 'subjectAltName=IP:127.0.0.1,IP:" +
      far_host().address + ",DNS:localhost\\n' > ext"
      " && openssl x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out node.pem"
      " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

Url listen_url(const LinkKind& kind) {
  const std::string scheme = kind.scheme;
  static int count = 0;
  if (scheme == "shm") return *parse_url("shm:" + scratch_folder() + "/s" + std::to_string(++count));
  return *parse_url(scheme + "://" + far_host().address + ":0");
}

std::vector<LinkKind> kinds_here() {
  if (!far_host().network.empty()) return {{"tcp, far host", "tcp"}};
  return {{"local", "local"},        {"shm", "shm"},
          {"tcp", "tcp"},            {"tcp, relay", "tcp", 0},
          {"tcp, 50 us", "tcp", 50}, {"tcp, 200 us", "tcp", 200},
          {"tcp, 10 ms", "tcp", 10000}};
}

std::vector<LinkKind> tls_kinds_here() {
  if (!far_host().network.empty()) return {{"tls, far host", "tls"}};
  return {{"tls", "tls"}, {"tls, 200 us", "tls", 200}, {"tls, 10 ms", "tls", 10000}};
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
    std::vector<LinkKind> k = kinds_here();
    if (!certificate_credentials().ca.empty())
      for (const LinkKind& tls : tls_kinds_here()) k.push_back(tls);
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
  {
    const OnFarHost there;
    pair.server = std::make_unique<TestServer>(listen_url(kind), credentials, options);
  }
  REQUIRE_MESSAGE(pair.server->error().ok(), pair.server->error().text());
  Url url = pair.server->url();
  if (kind.delay_us >= 0) {
    pair.relay = std::make_unique<relay::Relay>(url.port);
    pair.relay->delay_us(static_cast<uint64_t>(kind.delay_us));
    url.port = pair.relay->port();
  }
  auto link = connect(url, credentials, patient(options));
  REQUIRE_MESSAGE(link, link.status().text());
  pair.a = std::move(*link);
  pair.b = pair.server->next();
  REQUIRE(pair.b);
  return pair;
}

}  // namespace gt::wire
