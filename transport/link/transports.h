// The kinds of links that have URLs: one row for each in transports.cc. Everybody else asks a URL's scheme what he must
// know of it (in_node, is_encrypted), so that a new kind is a file with begin_ and accept_, and a row.
// Thread safety: functions from any thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "traces/base/status.h"
#include "transport/link/base/link.h"
#include "transport/link/hello/opening.h"
#include "transport/link/hello/url.h"

namespace gt::wire {

struct Transport {
  Scheme scheme;
  Status (*available)();  // can it be used in this process?
  // The server's: is this connection one of its? A connection belongs to the first row that says so.
  bool (*takes)(int connection, const Hello& hello);
  // Both sides have proved who they are over the control connection.
  Result<std::unique_ptr<Link>> (*begin)(const Opening& opening, Agreed control);
  Result<std::unique_ptr<Link>> (*accept)(Arrival arrival, Agreed control);
};
std::span<const Transport> transports();

// Whose URL this is; nullptr: of none.
const Transport* transport_of(const Url& url);
const Transport* transport_of(int connection, const Hello& hello);

// shm:NAME, tcp://HOST[:PORT], tls://HOST[:PORT]. Errors are Invalid.
Result<Url> parse_url(std::string_view text);
// shm:NAME.
Url node_url(std::string name);

}  // namespace gt::wire
