// What gmicrobench link measures against: sends frames back, and exposes memory. Beside the link it serves a bare
// socket (for URLs with a port), so that a link is compared with what the network does without it.
//
//   first frame to a client: EchoGreeting
//   bare socket: the client sends {operation, bytes}; Echo: so many bytes come back; Take: they are read, then one byte
//   comes back; Give: they are sent
// The bare socket asks for no token: it moves no more than MostBytes of zeros, and only while gmicrobench runs.
// Thread safety: none.
#pragma once

#include "transport/link/hello/credentials.h"
#include "transport/link/hello/url.h"
#include "transport/link/reception.h"

namespace gt::bench {

struct EchoGreeting {
  uint64_t magic = 0x3168636545544721;
  uint32_t segment = 0;  // memory of MostBytes
  uint32_t bare_port = 0;
};
enum class BareOperation : uint64_t { Echo = 1, Take = 2, Give = 3 };
struct BareRequest {
  BareOperation operation;
  uint64_t bytes;
};
constexpr size_t MostBytes = size_t{64} << 20;

// Serves clients, one after the other, until `wake` is readable. Prints where it listens.
Status serve_echo(const wire::Url& url, const wire::Credentials& credentials, int wake);

}  // namespace gt::bench
