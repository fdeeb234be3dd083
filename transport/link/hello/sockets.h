// What connecting and accepting need of the system beside connect.h. Thread safety: functions from any thread.
#pragma once

#include "transport/link/connect.h"
#include "transport/link/base/waiting.h"

namespace gt::wire {

// No waiting for small writes to be joined; little data waits in the kernel unsent, so that delay is seen by us.
void tune(int connection);

bool is_unix(int socket);

// A connected socket that does not block. Errors are Disconnected with errno as code where there is one.
Result<Fd> connect_to(const Url& url, Deadline deadline, int wake = -1);

// Of an attempt to connect: another would not help. Nobody listens there, or who does has refused.
bool is_final(const Status& status);

// Where the other end is, as a URL that needs no name to be looked up.
Result<Url> address_of_peer(int connection, Url::Scheme scheme);

// One message with at most one descriptor (-1: none). Busy: there is no room for it.
Status send_with_fd(int socket, ByteView bytes, int fd);
// Bytes of one message; 0: there is none. A second descriptor in a message is closed by the kernel.
Result<size_t> receive_with_fd(int socket, std::span<uint8_t> bytes, Fd& fd);

// What hand_over() gave; nothing: none waits.
struct Handed {
  Fd connection;
  Hello hello;
};
Result<std::optional<Handed>> take_over(int handover);

}  // namespace gt::wire
