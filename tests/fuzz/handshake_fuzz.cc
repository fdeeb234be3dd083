// libFuzzer: strangers at both ends of a handshake. What they say begins as a good transcript does, whose nonces are
// always the same here, so that the input can be a whole one, or one with a byte that is wrong.
#include <sys/socket.h>

#include <cstdlib>
#include <thread>

#include "tests/fuzz/seeds.h"
#include "tests/unit/link/read_hello.h"
#include "transport/link/hello/handshake.h"

using namespace gt;
using namespace gt::wire;

// Fresh nonces would make every transcript another one.
extern "C" ssize_t getrandom(void* to, size_t bytes, unsigned) {
  std::memset(to, 7, bytes);
  return static_cast<ssize_t>(bytes);
}

namespace {

enum Role : uint8_t { Server, Client, Roles };

struct Pair {
  Pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    here = Fd(ends[0]);
    there = Fd(ends[1]);
  }
  Fd here, there;
};

const Credentials& credentials() {
  static const Credentials with_token{Bytes(TokenBytes, 1), {}, {}, {}};
  return with_token;
}

Hello hello_of(Hello::Proof proof) {
  Hello hello;
  hello.version_low = hello.version_high = 1;
  hello.proof = proof;
  hello.nonce.fill(3);
  return hello;
}

// Whoever is asked waits for what comes; nothing more does.
Handshake how() {
  static const LinkOptions options;
  return {credentials(), options, Deadline::in_ms(10'000)};
}

bool serve(Fd connection) {
  const Result<Hello> hello = read_hello(connection.get(), 10'000);
  if (!hello.ok() || hello->tls) return false;
  return welcome(std::move(connection), *hello, [] { return Result<uint64_t>(5); }, how()).ok();
}

bool call(Fd connection, Hello::Proof proof) {
  return introduce(std::move(connection), hello_of(proof), {}, 6, how()).ok();
}

// What each side of a good handshake says: its bytes, in the order of roles.
Bytes said_to(Role role, Hello::Proof proof) {
  Pair a, b;  // with the test between them
  std::thread server([&] { serve(std::move(a.here)); });
  std::thread client([&] { call(std::move(b.here), proof); });
  Bytes to_server, to_client;
  const auto pass = [](const Fd& from, const Fd& to, size_t bytes, Bytes& said) {
    Bytes part(bytes);
    if (::recv(from.get(), part.data(), bytes, MSG_WAITALL) != static_cast<ssize_t>(bytes)) std::abort();
    if (::send(to.get(), part.data(), bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) std::abort();
    said.insert(said.end(), part.begin(), part.end());
  };
  pass(b.there, a.there, HelloBytes, to_server);
  pass(a.there, b.there, AnswerBytes + 72, to_client);
  pass(b.there, a.there, 48, to_server);
  pass(a.there, b.there, 48, to_client);
  server.join();
  client.join();
  return role == Server ? to_server : to_client;
}

constexpr Hello::Proof Proofs[] = {Hello::Proof::Token, Hello::Proof::SameUser};

}  // namespace

std::vector<Bytes> fuzz_seeds() {
  std::vector<Bytes> seeds;
  for (uint8_t role = 0; role < Roles; ++role) {
    for (uint8_t proof = 0; proof < std::size(Proofs); ++proof) {
      Bytes& seed = seeds.emplace_back(Bytes{static_cast<uint8_t>(role | proof << 1)});
      const Bytes said = said_to(static_cast<Role>(role), Proofs[proof]);
      seed.insert(seed.end(), said.begin(), said.end());
    }
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::vector<Bytes> good = fuzz_seeds();
  const ByteView said(data + 1, size - 1);
  Pair pair;
  if (!said.empty() && ::send(pair.there.get(), said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return 0;
  ::shutdown(pair.there.get(), SHUT_WR);
  const uint8_t proof = data[0] >> 1 & 1;
  const bool in = (data[0] & 1) == Server ? serve(std::move(pair.here)) : call(std::move(pair.here), Proofs[proof]);
  // Who does not know the token gets in only by repeating, to the byte, what one who does has said to these nonces.
  const auto begins = [&](const Bytes& g) {
    return said.size() + 1 >= g.size() && std::equal(g.begin() + 1, g.end(), said.begin());
  };
  const bool by_token = (data[0] & 1) == Client ? proof == 0 : said.size() > 13 && said[13] == 1;
  if (in && by_token && std::none_of(good.begin(), good.end(), begins)) std::abort();
  return 0;
}
