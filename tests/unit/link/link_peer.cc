// A server in a process of its own, to be killed: serves clients at the URL, sends frames back, and exposes memory
// whose segment number every client is told first. Prints its URL. Usage: link_peer URL
#include <cstdio>
#include <thread>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/test_server.h"

namespace {

struct Echo : gt::wire::LinkHandler {
  std::unique_ptr<gt::wire::Link> link;
  gt::Bytes memory = gt::Bytes(1 << 20);

  void on_frame(gt::ByteView frame) override { (void)gt::wire::say(*link, gt::as_text(frame)); }
  void on_put(gt::wire::Notice notice, size_t) override { (void)gt::wire::say(*link, "put " + std::to_string(notice)); }
  void on_closed(const gt::Status&) override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto url = gt::wire::parse_url(argv[1]);
  if (!url) return 2;
  gt::wire::Credentials credentials;
  credentials.token.assign(gt::wire::TokenBytes, 1);
  gt::wire::LinkOptions options;
  options.dead_ms = 300;
  options.grace_ms = 600;
  options.heartbeat_ms = 100;
  gt::wire::TestServer server(*url, credentials, options);
  if (!server.error().ok()) return 4;
  std::printf("%s\n", gt::wire::to_text(server.url()).c_str());
  std::fflush(stdout);
  while (auto link = server.next()) {
    auto* const echo = new Echo;  // for as long as the process lives
    echo->link = std::move(link);
    (void)echo->link->start(*echo);
    const auto segment = echo->link->expose(echo->memory.data(), echo->memory.size());
    (void)gt::wire::say(*echo->link, std::to_string(*segment));
  }
  return 0;
}
