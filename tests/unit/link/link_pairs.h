// Two connected ends of every kind of link, for the conformance suite.
#pragma once

#include "tests/relay/relay.h"
#include "tests/unit/link/test_server.h"

namespace gt::wire {

struct LinkPair {
  std::unique_ptr<TestServer> server;  // null for a local link
  std::unique_ptr<relay::Relay> relay;
  std::unique_ptr<Link> a, b;  // client, server
};

struct LinkKind {
  const char* name;
  const char* scheme;     // local, shm, tcp, tls
  int64_t delay_us = -1;  // through a relay with so much delay; -1: directly
};

// All that can be had here; tls only where OpenSSL is. With GT_TEST_FAR_HOST, "ADDRESS NAMESPACE", those between nodes
// only: servers listen at that address in that network namespace, and this process is in another one.
const std::vector<LinkKind>& link_kinds();
LinkPair make_pair(const LinkKind& kind, LinkOptions options = {});

Credentials token_credentials(uint8_t seed = 1);
// Of an authority made for this run; empty when the openssl program is not there.
Credentials certificate_credentials();
std::string scratch_folder();

}  // namespace gt::wire
