#include "transport/gproxy/listener.h"

#include <cerrno>
#include <utility>

#include "transport/gproxy/log.h"
#include "transport/link/hello/sockets.h"

namespace gt::proxy {
namespace {

constexpr std::chrono::milliseconds RestTime{200};
constexpr int AtATime = 64;

bool is_exhaustion(const Status& s) {
  const int e = s.code();
  return s.kind() == Kind::System && (e == EMFILE || e == ENFILE || e == ENOBUFS || e == ENOMEM);
}

}  // namespace

Listener::Listener(EventLoop& loop, Fd socket, Taken taken)
    : loop_(loop), socket_(std::move(socket)), taken_(std::move(taken)) {
  watch();
}

void Listener::watch() {
  watch_ = loop_.watch(socket_.get(), [this] { accept_all(); });
}

void Listener::accept_all() {
  for (int i = 0; i < AtATime; ++i) {
    Result<Fd> connection = wire::accept_connection(socket_.get());
    if (connection) {
      taken_(std::move(*connection));
      continue;
    }
    if (!is_exhaustion(connection.status())) return;  // nobody waits, or who waited is gone
    log("cannot take a connection: {}", connection.status().text());
    watch_ = {};
    resting_ = loop_.after(RestTime, [this] { watch(); });
    return;
  }
}

}  // namespace gt::proxy
