// What supervisor and worker say to each other: reports over a socket pair (SOCK_SEQPACKET), and a page of memory in
// which the worker counts.
//
//   worker ── Open + its end of a hand-over socket ──► supervisor     gives it a caller (link/hello/handover.h)
//          ── Refused or Accepted ───────────────────► supervisor     Refused: Open follows, for another caller
//          ── PeerListener + its end of another one ─────► supervisor     gives it the peer that asks for this name
//          ── StoreWanted ─────────────────────────────► supervisor     once; Store answers, beside it the file
//   the supervisor closes its side, or dies ─────────► worker         ends the session and itself
//
// Drivers and strangers' messages live in workers: the supervisor acts on none of their numbers, it only shows them.
// The name of a peer listener leads to the worker that gave it, and to no other.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "traces/base/fd.h"
#include "transport/chunks/piece_name.h"
#include "transport/executor/base/counters.h"
#include "transport/link/hello/hello.h"

namespace gt::proxy {

enum class News : uint32_t {
  Open = 1,          // beside it: the socket over which the worker takes a caller
  Refused = 2,       // the caller did not prove who it is
  Accepted = 3,      // the session runs
  PeerListener = 4,  // beside it: the socket over which it takes the peer that asks for `name`
  StoreWanted = 5,   // the client has the key of `owner`
  Store = 6,         // to the worker; beside it: where that owner's chunks are kept
};
struct Report {
  News news = News::Open;
  char text[200] = {};  // Refused: why
  wire::SessionId name{};
  chunks::Owner owner{};
};

// Written by the worker, read by the supervisor at any moment; each number for itself.
struct CounterPage {
  exec::LiveCounters counters;
  std::atomic<uint64_t> devices;  // bit n: a queue was made on device n; not told of from 64 on
};
constexpr size_t CounterPageBytes = 4096;
static_assert(sizeof(CounterPage) <= CounterPageBytes && std::atomic<uint64_t>::is_always_lock_free);

// The descriptors that a worker is born with, besides standard error (a pipe to the supervisor's log).
constexpr int ControlFd = 3, CounterFd = 4, BuildTurnsFd = 5;

// One report and perhaps a descriptor. False: the other side is gone or does not keep up. Never blocks. Any
// thread: a report is one datagram, whole or not at all.
bool send_report(int socket, const Report& report, int fd = -1);
// Whether there was one; never blocks. `gone`: there will be none any more.
bool receive_report(int socket, Report& report, Fd& fd, bool& gone);

}  // namespace gt::proxy
