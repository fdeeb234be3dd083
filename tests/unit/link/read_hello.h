// Waits for a hello, as servers of tests may; a proxy reads as bytes come in.
#pragma once

#include "transport/link/base/waiting.h"
#include "transport/link/hello/hello.h"

namespace gt::wire {

inline Result<Hello> read_hello(int fd, uint32_t timeout_ms = 2000) {
  HelloReader reader;
  const Deadline deadline = Deadline::in_ms(timeout_ms);
  while (wait_for(fd, POLLIN, deadline)) {
    auto hello = reader.read(fd);
    if (!hello) return hello.status();
    if (*hello) return **hello;
  }
  return Status(Kind::Disconnected, "a new connection says nothing");
}

}  // namespace gt::wire
