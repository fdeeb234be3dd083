#include "microbench/links/bare_socket.h"

#include <algorithm>

#include "microbench/links/answers.h"
#include "transport/link/connect.h"
#include "transport/link/hello/sockets.h"

namespace gt::bench {
namespace {

constexpr uint64_t Connect_ms = 2000, Wait_ms = 30'000;

}  // namespace

Result<BareSocket> BareSocket::connect(const wire::Url& echo, const EchoGreeting& greeting) {
  wire::Url bare = echo;
  bare.port = static_cast<uint16_t>(greeting.bare_port);
  auto fd = wire::connect_to(bare, wire::Deadline::in_ms(Connect_ms));
  if (!fd) return fd.status();
  return BareSocket(std::move(*fd));
}

Result<BareSocket> BareSocket::connect(const wire::Url& echo, const wire::Credentials& credentials) {
  Answers answers;
  auto link = wire::connect(echo, credentials);
  if (!link) return link.status();
  Status s = (*link)->start(answers);
  Result<EchoGreeting> greeting = s.ok() ? answers.greeting(**link) : s;
  (*link)->close();
  link->reset();
  if (!greeting) return greeting.status();
  if (greeting->bare_port == 0) return Status(Kind::Invalid, wire::to_text(echo) + " has no bare socket");
  return connect(echo, *greeting);
}

Status BareSocket::move(BareOperation operation, uint64_t bytes, std::span<uint8_t> memory) {
  const size_t most = std::min(memory.size(), MostBytes);
  for (uint64_t done = 0, at = 0; done < bytes;) {
    if (at + most > memory.size()) at = 0;
    const size_t part = std::min<uint64_t>(bytes - done, most);
    GT_TRY(move_part(operation, memory.subspan(at, part)));
    done += part;
    at += part;
  }
  return {};
}

Status BareSocket::move_part(BareOperation operation, std::span<uint8_t> data) {
  const wire::Deadline deadline = wire::Deadline::in_ms(Wait_ms);
  const BareRequest request{operation, data.size()};
  GT_TRY(socket_.write_all({reinterpret_cast<const uint8_t*>(&request), sizeof request}, deadline));
  if (operation != BareOperation::Give) GT_TRY(socket_.write_all(data, deadline));
  if (operation != BareOperation::Take) return socket_.read_all(data, deadline);
  uint8_t taken = 0;
  return socket_.read_all({&taken, 1}, deadline);
}

}  // namespace gt::bench
