// Messages between processes of a machine that carry a descriptor. Thread safety: functions from any thread.
#pragma once

#include <span>

#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::wire {

// One message with at most one descriptor (-1: none). Busy: there is no room for it.
Status send_with_fd(int socket, ByteView bytes, int fd);
// Bytes of one message; 0: there is none. A second descriptor in a message is closed by the kernel.
Result<size_t> receive_with_fd(int socket, std::span<uint8_t> bytes, Fd& fd);

}  // namespace gt::wire
