// URLs of links, and the places that they name. Which schemes there are: transport/link/transports.h, with parse_url().
// Thread safety: functions from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt::wire {

struct Url;

// What a URL's beginning says of it. There is one object for each, which lives for ever (transports.cc).
struct Scheme {
  std::string_view prefix;  // tcp://
  std::string_view form;    // of the rest, for people: HOST:PORT
  bool in_node;             // a Unix socket, found by its name: no host and no port, and the kernel tells who is there
  bool is_encrypted;        // TLS inside, certificates on both sides
  const char* (*parse)(std::string_view rest, Url& url);  // what is wrong with it; nullptr: nothing
  std::string (*print)(const Url& url);                   // the rest
};

struct Url {
  const Scheme* scheme = nullptr;  // nullptr: names no place
  std::string name;                // in the node: NAME of shm:NAME; one with a slash is the path of the socket
  std::string host;                // else; an IPv6 address without its brackets
  uint16_t port = 0;               // 0 (to listen only): any

  bool in_node() const { return scheme && scheme->in_node; }
  bool is_encrypted() const { return scheme && scheme->is_encrypted; }
  bool operator==(const Url&) const = default;
};
constexpr uint16_t DefaultPort = 7447;

std::string to_text(const Url& url);
// Of a URL in the node: $XDG_RUNTIME_DIR/gtrace/NAME.sock, or /tmp/gtrace-UID/NAME.sock.
std::string socket_path(const Url& url);
// No packet to it leaves this machine: in the node, a loopback address, localhost.
bool is_local(const Url& url);

// --- For schemes: the two ways in which they are written ---
const char* parse_name(std::string_view rest, Url& url);
std::string print_name(const Url& url);
const char* parse_host(std::string_view rest, Url& url);  // HOST, HOST:PORT, [V6], [V6]:PORT
std::string print_host(const Url& url);

}  // namespace gt::wire
