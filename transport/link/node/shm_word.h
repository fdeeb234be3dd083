// What goes through the socket of a link inside a node, besides descriptors: words of 32 bytes (docs/links.md).
// Thread safety: functions; one receiver of a socket at a time.
#pragma once

#include <optional>

#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "transport/link/base/waiting.h"

namespace gt::wire {

// A segment's memory comes with Share, a process with Process. Leave: who sends it comes back by no other socket.
struct Word {
  enum class Kind : uint32_t { Region = 1, Process = 2, Share = 3, Shared = 4, Withdraw = 5, Withdrawn = 6, Leave = 7 };
  Kind kind = Kind::Region;
  uint32_t segment = 0;
  uint64_t bytes = 0, offset = 0;
  uint64_t ok = 0;
};
static_assert(sizeof(Word) == 32);

// `fd` goes with it; -1: none.
Status send_word(int socket, const Word& word, int fd, Deadline deadline);
// Nothing: there is none.
Result<std::optional<Word>> receive_word(int socket, Fd& fd);
// The descriptor that comes with a word of this kind, which is due.
Result<Fd> await_word(int socket, Word::Kind kind, Deadline deadline);

}  // namespace gt::wire
