// Who may connect: tokens, certificates, strangers, and clients that do not do what they should.
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include <random>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"
#include "transport/link/base/fd_message.h"
#include "transport/link/hello/handshake.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/net/tcp_link.h"
#include "transport/link/node/shm_region.h"

namespace gt::wire {
namespace {

Url anywhere(const std::string& scheme) {
  static int count = 0;
  if (scheme != "shm") return *parse_url(scheme + "://127.0.0.1:0");
  return *parse_url("shm:" + scratch_folder() + "/x" + std::to_string(++count));
}

bool works(const Url& url, TestServer& server, const Credentials& credentials = token_credentials()) {
  LinkLog log, other;
  auto link = connect(url, credentials, patient());
  if (!link) return false;
  auto far = server.next();
  if (!far) return false;
  const bool ok = (*link)->start(log).ok() && far->start(other).ok() && say(**link, "hi").ok() && other.wait_frames(1);
  (*link)->close();
  far->close();
  return ok;
}

TEST_CASE("only who holds the token is let in, and only to who holds it does a client talk") {
  TestServer server(anywhere("tcp"), token_credentials(1));
  const auto refused = connect(server.url(), token_credentials(2), patient());
  REQUIRE_FALSE(refused);
  CHECK(refused.status().kind() == Kind::Invalid);
  CHECK(server.wait_refused(1));
  CHECK(connect(server.url(), {}, patient()).status().kind() == Kind::Invalid);
  CHECK(works(server.url(), server));
}

TEST_CASE("a server without the token cannot make a client believe that it has it") {
  TestServer server(anywhere("tcp"), token_credentials(2));
  CHECK(connect(server.url(), token_credentials(1), patient()).status().text().find("same token") != std::string::npos);
}

TEST_CASE("a client of the same user needs no token inside a node, unless the server wants one") {
  TestServer server(anywhere("shm"), token_credentials(1));
  CHECK(works(server.url(), server, {}));
  LinkOptions strict;
  strict.allow_same_user = false;
  TestServer other(anywhere("shm"), token_credentials(1), strict);
  CHECK_FALSE(connect(other.url(), {}, patient()));
  CHECK(works(other.url(), other));
}

TEST_CASE("a TLS server takes certificates of its authority only, and no plain connections") {
  const Credentials good = certificate_credentials();
  if (good.ca.empty()) return;
  TestServer server(anywhere("tls"), good);
  Credentials bad = good;
  bad.cert = bad.key = "";
  CHECK(connect(server.url(), bad, patient()).status().kind() == Kind::Invalid);
  Url plain = server.url();
  plain.scheme = parse_url("tcp://host")->scheme;
  CHECK_FALSE(connect(plain, token_credentials(), patient()));
  Url misnamed = server.url();
  misnamed.host = "127.0.0.2";  // reaches it, but the certificate does not name it
  CHECK_FALSE(connect(misnamed, good, patient()));
  CHECK(works(server.url(), server, good));
}

TEST_CASE("strangers are dropped and do not keep others out") {
  TestServer server(anywhere("tcp"), token_credentials());
  std::mt19937 random(1);
  std::vector<Fd> silent;
  const auto call = [&] { return connect_to(server.url(), Deadline::in_ms(ConnectTimeout_ms)); };
  for (int i = 0; i < 10; ++i) silent.push_back(std::move(*call()));
  for (int i = 0; i < 200; ++i) {
    auto fd = call();
    REQUIRE(fd);
    Bytes garbage(1 + random() % 300);
    for (uint8_t& b : garbage) b = static_cast<uint8_t>(random());
    if (i % 2) {  // the beginning is right
      const auto hello = to_bytes(make_hello(server.url(), token_credentials(), Hello::Purpose::Session, {}));
      std::copy_n(hello.begin(), std::min<size_t>(garbage.size(), random() % HelloBytes), garbage.begin());
    }
    (void)!::send(fd->get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  CHECK(works(server.url(), server));
}

TEST_CASE("clients of other versions, and connections of sessions that do not exist, are told why") {
  TestServer server(anywhere("tcp"), token_credentials());
  const LinkOptions options = patient();
  const Credentials credentials = token_credentials();
  const Handshake how{credentials, options, Deadline::in_ms(ConnectTimeout_ms)};
  Hello hello = make_hello(server.url(), credentials, Hello::Purpose::Resume, {});
  auto answer = introduce(std::move(*connect_to(server.url(), how.deadline)), hello, "", 0, how);
  CHECK(answer.status().code() == FirstRefusalCode + static_cast<int>(Refusal::NoSession));
  hello.purpose = Hello::Purpose::Session;
  hello.version_low = hello.version_high = NewestVersion + 1;
  answer = introduce(std::move(*connect_to(server.url(), how.deadline)), hello, "", 0, how);
  CHECK(answer.status().code() == FirstRefusalCode + static_cast<int>(Refusal::Version));
}

TEST_CASE("who knows a session's number but not the token cannot disturb it") {
  TestServer server(anywhere("tcp"), token_credentials());
  SessionId id{};
  const Credentials credentials = token_credentials(), wrong = token_credentials(9);
  const LinkOptions options = patient();
  const Deadline deadline = Deadline::in_ms(ConnectTimeout_ms);
  const Handshake how{credentials, options, deadline}, bad{wrong, options, deadline};
  Session session;
  session.is_client = true;
  session.url = server.url();
  session.credentials = credentials;
  session.dead_ms = session.grace_ms = 3000;
  Agreed parts[2];
  for (int i = 0; i < 2; ++i) {
    const auto purpose = i ? Hello::Purpose::Data : Hello::Purpose::Session;
    auto agreed = introduce(std::move(*connect_to(server.url(), how.deadline)),
                            make_hello(server.url(), credentials, purpose, id), "", 0, how);
    REQUIRE(agreed);
    parts[i] = std::move(*agreed);
  }
  TcpLink link(std::move(session));
  REQUIRE(link.attach(std::move(parts[0]), std::move(parts[1])).ok());
  auto far = server.next();
  LinkLog log, other;
  REQUIRE(link.start(log).ok());
  REQUIRE(far->start(other).ok());
  for (const auto purpose : {Hello::Purpose::Data, Hello::Purpose::Resume, Hello::Purpose::Peer}) {
    auto stolen = introduce(std::move(*connect_to(server.url(), bad.deadline)),
                            make_hello(server.url(), wrong, purpose, id), "", 0, bad);
    CHECK_FALSE(stolen);
  }
  REQUIRE(say(link, "hi").ok());
  CHECK(other.wait_frames(1));
  CHECK(log.ends().empty());
  link.close();
  far->close();
}

TEST_CASE("a client that scribbles on the shared memory harms only its own link") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    TestServer server(anywhere("shm"), token_credentials());
    const LinkOptions options = patient();
    const Credentials credentials = token_credentials();
    const Handshake how{credentials, options, Deadline::in_ms(ConnectTimeout_ms)};
    auto agreed = introduce(std::move(*connect_to(server.url(), how.deadline)),
                            make_hello(server.url(), credentials, Hello::Purpose::Session, {}), "", 0, how);
    REQUIRE(agreed);
    const Fd socket = agreed->socket.release();
    uint8_t word[32] = {};
    Fd memory, process;
    REQUIRE(wait_for(socket.get(), POLLIN, how.deadline));
    REQUIRE(receive_with_fd(socket.get(), word, memory));
    word[0] = 2;  // Process
    REQUIRE(send_with_fd(socket.get(), word, -1).ok());
    auto far = server.next();
    REQUIRE(far);
    LinkLog log;
    REQUIRE(far->start(log).ok());
    void* const base = ::mmap(nullptr, RegionBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    REQUIRE(base != MAP_FAILED);
    CHECK(::ftruncate(memory.get(), 0) != 0);
    auto& head = *static_cast<RegionHead*>(base);
    auto* const bytes = static_cast<uint8_t*>(base);
    for (int i = 0; i < 300; ++i) {
      for (int k = 0; k < 100; ++k) {
        const size_t at = RegionHeadBytes + random() % (RegionBytes - RegionHeadBytes);
        bytes[at] = static_cast<uint8_t>(random() % 40);
      }
      head.control[1].tail = round % 2 ? random() : random() % 4096;
      head.data[1].tail = round % 3 ? random() % 4096 : random();
      head.control[0].head = random() % 64;
      ring_bell(head.sides[0].control);
      ring_bell(head.sides[0].data);
      if (round % 4 == 0) (void)say(*far, "to a scribbler");
    }
    ::munmap(base, RegionBytes);
    ::shutdown(socket.get(), SHUT_RDWR);
    CHECK(log.wait_closed(5));
  }
}

}  // namespace
}  // namespace gt::wire
