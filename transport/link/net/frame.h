// The frames of a stream between nodes (docs/links.md): 32 bytes of header, a head of its type, the payload.
//
// Integers are little-endian. `position` is where in the sender's stream the header begins, so a stream that has gone
// wrong anywhere is noticed at the next header. `check` covers the rest of the header and the session; it finds damage
// and strangers' bytes, not attackers (those TLS keeps out).
// Thread safety: values.
#pragma once

#include <cstring>

#include "transport/link/hello/hello.h"

namespace gt::wire {

enum class FrameType : uint8_t {
  Message = 1,  // control: payload for on_frame()
  Put = 2,      // PutHead, payload
  Get = 3,      // GetHead
  Got = 4,      // GotHead, payload
  Ack = 5,      // AckHead
  Beat = 6,
  Bye = 7,      // nothing follows from the sender but acknowledgements
};

struct FrameHeader {
  uint32_t length = 0;  // of what follows the header
  FrameType type = FrameType::Beat;
  uint8_t zero[3] = {};
  uint64_t position = 0;
  uint64_t received = 0;  // bytes of the peer's stream that are here
  uint32_t reserved = 0;
  uint32_t check = 0;
};
static_assert(sizeof(FrameHeader) == 32);

struct PutHead {
  uint32_t segment = 0;
  uint32_t has_notice = 0;  // 1: this is the last chunk, and on_put(notice, total) is due
  uint64_t offset = 0;  // of the whole put in the segment
  uint64_t notice = 0;
  uint64_t total = 0;  // bytes of the whole put
  uint64_t done = 0;   // of these before this chunk
};
struct GetHead {
  uint32_t segment = 0, zero = 0;
  uint64_t offset = 0, bytes = 0;
  uint64_t id = 0;
};
struct GotHead {
  uint64_t id = 0;
  uint64_t offset = 0;  // in what was asked for
};
struct AckHead {
  uint64_t hold_ns = 0;  // since the last byte of what is acknowledged arrived
};

constexpr size_t LargestChunk = size_t{1} << 20;  // payload of one Put or Got

constexpr size_t head_bytes(FrameType type) {
  switch (type) {
    case FrameType::Put: return sizeof(PutHead);
    case FrameType::Get: return sizeof(GetHead);
    case FrameType::Got: return sizeof(GotHead);
    case FrameType::Ack: return sizeof(AckHead);
    default: return 0;
  }
}

// A number that is different for each stream of each session.
inline uint64_t stream_salt(const SessionId& session, bool data) {
  uint64_t halves[2];
  std::memcpy(halves, session.data(), sizeof halves);
  return halves[0] ^ (data ? ~halves[1] : halves[1]);
}

inline uint32_t header_check(const FrameHeader& header, uint64_t salt) {
  uint64_t words[4];
  std::memcpy(words, &header, sizeof words);
  words[3] &= 0xffffffff;  // without the check itself
  uint64_t h = salt;
  for (const uint64_t word : words) {  // MurmurHash3's finalizer for each word
    h ^= word;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  }
  return static_cast<uint32_t>(h >> 32);
}

}  // namespace gt::wire
