// Serves this process's OpenCL at a URL, a thread for each session, without anything else that a proxy does.
//
// Usage: executor_server URL [TOKEN_FILE]. Prints the URL that it listens at; ends with its standard input.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "tests/unit/link/read_hello.h"
#include "transport/executor/executor.h"
#include "transport/link/connect.h"
#include "transport/link/hello/handover.h"
#include "transport/link/hello/sockets.h"

namespace {

using namespace gt;  // NOLINT: a test program

exec::Functions g_functions;
wire::Credentials g_credentials;

int fail(const Status& why) {
  std::fprintf(stderr, "executor_server: %s\n", why.text().c_str());
  return 1;
}

void serve(Fd handover) {
  auto link = wire::accept_link(std::move(handover), g_credentials);
  if (!link.ok()) return static_cast<void>(fail(link.status()));
  exec::Executor executor(g_functions, **link, exec::Limits{}, exec::Options{});
  if (const Status started = executor.start(); !started.ok()) return static_cast<void>(fail(started));
  executor.wait_until_closed();
}

std::atomic<int> g_serving{0};  // sessions

// Those whose clients have gone let go of everything first.
[[noreturn]] void end() {
  using namespace std::chrono_literals;
  for (int tries = 0; g_serving > 0 && tries < 500; ++tries) std::this_thread::sleep_for(10ms);
  std::exit(0);
}

// Gives the connection to its session, or begins one.
void take(Fd connection, std::map<wire::SessionId, Fd>& sessions) {
  const Result<wire::Hello> hello = wire::read_hello(connection.get());
  if (!hello.ok()) return;
  if (hello->purpose == wire::Hello::Purpose::Session) {
    Result<wire::WorkerSocket> sockets = wire::worker_socket();
    if (!sockets.ok()) return;
    sessions[hello->session] = std::move(sockets->supervisor);
    ++g_serving;
    std::thread([worker = std::move(sockets->worker)]() mutable {
      serve(std::move(worker));
      --g_serving;
    }).detach();
  }
  const auto it = sessions.find(hello->session);
  if (it == sessions.end()) return wire::refuse(connection.get(), wire::Refusal::NoSession);
  (void)wire::hand_over(it->second.get(), connection.get(), *hello).ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const Result<wire::Url> url = wire::parse_url(argv[1]);
  if (!url.ok()) return fail(url.status());
  if (argc > 2) {
    Result<Bytes> token = wire::read_token(argv[2]);
    if (!token.ok()) token = wire::make_token(argv[2]);
    if (!token.ok()) return fail(token.status());
    g_credentials.token = *token;
  }
  void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library) return fail({Kind::Unsupported, "no libOpenCL.so.1"});
  g_functions = exec::functions_of(library);
  const Result<Fd> listener = wire::listen_on(*url);
  if (!listener.ok()) return fail(listener.status());
  const Result<wire::Url> address = wire::address_of(listener->get(), url->scheme);
  if (!address.ok()) return fail(address.status());
  std::printf("%s\n", url->in_node() ? argv[1] : wire::to_text(*address).c_str());
  std::fflush(stdout);
  std::map<wire::SessionId, Fd> sessions;
  for (;;) {
    std::array<pollfd, 2> waits{pollfd{listener->get(), POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), -1);
    if (waits[1].revents) end();
    Result<Fd> connection = wire::accept_connection(listener->get());
    if (connection.ok()) take(std::move(*connection), sessions);
  }
}
