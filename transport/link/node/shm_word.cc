#include "transport/link/node/shm_word.h"

#include "transport/link/base/fd_message.h"

namespace gt::wire {

Status send_word(int socket, const Word& word, int fd, Deadline deadline) {
  while (true) {
    const Status s = send_with_fd(socket, {reinterpret_cast<const uint8_t*>(&word), sizeof word}, fd);
    if (s.kind() != Kind::Busy) return s;
    if (!wait_for(socket, POLLOUT, deadline)) return s;
  }
}

Result<std::optional<Word>> receive_word(int socket, Fd& fd) {
  Word word;
  const auto n = receive_with_fd(socket, {reinterpret_cast<uint8_t*>(&word), sizeof word}, fd);
  if (!n) return n.status();
  if (*n == 0) return std::optional<Word>();
  if (*n != sizeof word) return Status(Kind::Corrupt, "the peer sent a damaged word");
  return std::optional<Word>(word);
}

Result<Fd> await_word(int socket, Word::Kind kind, Deadline deadline) {
  while (wait_for(socket, POLLIN, deadline)) {
    Fd fd;
    const auto word = receive_word(socket, fd);
    if (!word) return word.status();
    if (*word && (*word)->kind == kind) return fd;
    if (*word) return Status(Kind::Corrupt, "the peer sent another word than was due");
  }
  return Status(Kind::Disconnected, "the peer does not answer in time");
}

}  // namespace gt::wire
