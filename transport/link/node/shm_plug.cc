#include "transport/link/node/shm_plug.h"

#include <poll.h>
#include <sys/syscall.h>

#include <cerrno>

#include "transport/link/hello/handover.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/node/shm_word.h"

namespace gt::wire {
namespace {

// For poll: readable when the process ends. The socket alone would not tell while a child of it holds a copy.
Fd own_process() { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))); }

}  // namespace

Result<Fd> exchange_processes(int socket, Deadline deadline) {
  const Fd own = own_process();
  Word word;
  word.kind = Word::Kind::Process;
  GT_TRY(send_word(socket, word, own.get(), deadline));
  return await_word(socket, Word::Kind::Process, deadline);
}

ShmPlug::ShmPlug(Fd socket, Fd process, ShmResume resume)
    : resume_(std::move(resume)),
      process_(std::move(process)),
      may_return_(resume_.connect || (resume_.handover.open() && process_.open())),
      socket_(std::make_shared<const OwnFd>(std::move(socket))) {}

std::shared_ptr<const OwnFd> ShmPlug::socket() const {
  const MutexLock lock(mutex_);
  return socket_;
}

// Signal 0 does nothing; what is no process is no descriptor for it.
bool ShmPlug::is_process() const {
  return process_.is_ours() && (::syscall(SYS_pidfd_send_signal, process(), 0, nullptr, 0) == 0 || errno != EBADF);
}

// A process that dies closes its files before it is seen to have ended.
bool ShmPlug::peer_is_dead() const {
  constexpr int Moment_ms = 50;
  if (!process_.open()) return is_client();
  pollfd process{this->process(), POLLIN, 0};
  return ::poll(&process, 1, Moment_ms) > 0 && is_process();
}

bool ShmPlug::pull() {
  if (!may_return()) return false;
  out_since_ns_ = monotonic_ns();
  if (!is_process()) process_.forget();
  return true;
}

bool ShmPlug::reconnect() {
  auto agreed = resume_.connect();
  if (!agreed && is_final(agreed.status())) may_return_ = false;
  return put_in(std::move(agreed));
}

bool ShmPlug::take_connection() {
  auto handed = take_over(resume_.handover.get());
  if (!handed) give_up();  // the supervisor is gone
  if (!handed || !*handed) return false;
  const Hello& hello = (*handed)->hello;
  if (hello.session != resume_.session || hello.purpose != Hello::Purpose::Resume) return false;
  const Handshake how{resume_.credentials, resume_.options, Deadline::in_ms(resume_.options.connect_ms)};
  return put_in(welcome(std::move((*handed)->connection), hello, [] { return uint64_t{0}; }, how));
}

bool ShmPlug::put_in(Result<Agreed> agreed) {
  if (!agreed) return false;
  Fd socket = agreed->socket.release();
  auto process = exchange_processes(socket.get(), Deadline::in_ms(resume_.options.connect_ms));
  if (!process) return false;
  process_ = OwnFd(std::move(*process));
  out_since_ns_ = 0;
  const MutexLock lock(mutex_);
  socket_ = std::make_shared<const OwnFd>(std::move(socket));
  return true;
}

bool ShmPlug::is_grace_over() const {
  return !may_return() || monotonic_ns() > out_since_ns_ + resume_.grace_ms * Ms;
}

void ShmPlug::give_up() {
  resume_.handover = Fd();
  if (!is_client()) may_return_ = false;
}

}  // namespace gt::wire
