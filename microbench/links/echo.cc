#include "microbench/links/echo.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "transport/link/connect.h"
#include "transport/link/hello/handover.h"
#include "transport/link/hello/socket.h"
#include "transport/link/hello/sockets.h"

namespace gt::bench {
namespace {

constexpr uint64_t Idle_ms = 60'000;

struct Client final : wire::LinkHandler {
  std::unique_ptr<wire::Link> link;
  std::atomic<bool> over{false};

  void on_frame(ByteView frame) override {
    const ByteView part[] = {frame};
    (void)link->send(part);
  }
  void on_put(wire::Notice, size_t) override {}
  void on_closed(const Status&) override { over = true; }

  Status begin(uint32_t bare_port) {
    void* base = nullptr;
    const auto segment = link->allocate(MostBytes, &base);
    if (!segment) return segment.status();
    const EchoGreeting greeting{.segment = *segment, .bare_port = bare_port};
    const ByteView part[] = {{reinterpret_cast<const uint8_t*>(&greeting), sizeof greeting}};
    GT_TRY(link->start(*this));
    return link->send(part);
  }
};

void serve_bare(Fd fd, int wake) {
  wire::Socket socket(std::move(fd));
  Bytes bytes(MostBytes);
  BareRequest request{};
  const auto deadline = [] { return wire::Deadline::in_ms(Idle_ms); };
  while (socket.read_all({reinterpret_cast<uint8_t*>(&request), sizeof request}, deadline(), wake).ok()) {
    if (request.bytes > MostBytes) return;
    const std::span<uint8_t> data(bytes.data(), request.bytes);
    Status s;
    if (request.operation != BareOperation::Give) s = socket.read_all(data, deadline(), wake);
    if (!s.ok()) return;
    const ByteView answer = request.operation == BareOperation::Take ? ByteView(bytes).first(1) : ByteView(data);
    if (!socket.write_all(answer, deadline(), wake).ok()) return;
  }
}

// Everybody who is served, each in a thread.
class Serving {
 public:
  Serving(wire::Credentials credentials, int wake) : credentials_(std::move(credentials)), wake_(wake) {}
  ~Serving() {
    for (std::thread& t : threads_) t.join();
  }
  void bare_port(uint32_t port) { bare_port_ = port; }

  Result<Fd> take_session() {
    auto ends = wire::worker_socket();
    if (!ends) return ends.status();
    threads_.emplace_back([this, worker = std::move(ends->worker)]() mutable { serve(std::move(worker)); });
    return std::move(ends->supervisor);
  }
  void listen_bare(const Fd& listener) {
    threads_.emplace_back([this, fd = listener.get()] {
      while (wire::wait_for(fd, POLLIN, wire::Deadline::in_ms(1'000'000'000), wake_)) {
        auto connection = wire::accept_connection(fd);
        if (connection) serve_bare(std::move(*connection), wake_);
      }
    });
  }

 private:
  void serve(Fd worker) {
    Client client;
    auto link = wire::accept_link(std::move(worker), credentials_);
    if (!link) {
      fmt::print(stderr, "gmicrobench: {}\n", link.status().text());
      return;
    }
    client.link = std::move(*link);
    if (!client.begin(bare_port_).ok()) return;
    pollfd stop{wake_, POLLIN, 0};
    while (!client.over && ::poll(&stop, 1, 100) == 0) {
    }
    client.link->close();
    client.link.reset();
  }

  const wire::Credentials credentials_;
  const int wake_;
  std::atomic<uint32_t> bare_port_{0};
  std::list<std::thread> threads_;
};

}  // namespace

Status serve_echo(const wire::Url& url, const wire::Credentials& credentials, int wake) {
  auto listener = wire::listen_on(url);
  if (!listener) return listener.status();
  auto address = wire::address_of(listener->get(), url.scheme);
  if (!address) return address.status();
  Fd bare;
  Serving serving(credentials, wake);
  if (!url.in_node()) {
    wire::Url any = url;
    any.port = 0;
    auto made = wire::listen_on(any);
    if (!made) return made.status();
    bare = std::move(*made);
    serving.bare_port(wire::address_of(bare.get(), url.scheme)->port);
    serving.listen_bare(bare);
    address->host = url.host;
  } else {
    address->name = url.name;
  }
  fmt::print("listening at {}\n", wire::to_text(*address));
  std::fflush(stdout);
  wire::Reception reception([&](const wire::Hello&, int) { return serving.take_session(); });
  reception.listen(std::move(*listener), url.scheme);
  reception.serve(wake, -1);
  if (url.in_node()) ::unlink(wire::socket_path(url).c_str());
  return {};
}

}  // namespace gt::bench
