// Cuts the peer's stream into frames. Payloads of Put and Got are read to where they belong, without a copy; everything
// else goes through a buffer. A stream may be continued on another connection at any byte.
//
// Trusts nothing: lengths are checked before anything is made of them.
// Thread safety: one thread; received() from any.
#pragma once

#include <atomic>
#include <functional>

#include "transport/link/net/frame.h"
#include "transport/link/hello/socket.h"

namespace gt::wire {

// Errors are what the peer did wrong.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual Status take_header(const FrameHeader& header) = 0;                       // of every frame, first
  virtual Status take_frame(const FrameHeader& header, ByteView body) = 0;         // all but Put and Got
  virtual Status begin_payload(const FrameHeader& header, ByteView head) = 0;      // Put, Got
  // Calls `use` with where the payload's bytes from `done` on belong. False: that is no longer there.
  virtual bool at_target(size_t done, size_t bytes, const std::function<void(char*)>& use) = 0;
  virtual Status end_payload() = 0;
};

class FrameReader {
 public:
  FrameReader(uint64_t salt, bool data);

  enum class Outcome : uint8_t { Drained, More, Over, Bad };
  // Reads what is there, but not for ever (More). Over: the connection is; Bad: error() says why.
  Outcome read(Socket& socket, FrameSink& sink);
  const Status& error() const { return error_; }
  uint64_t received() const { return received_.load(std::memory_order_relaxed); }

 private:
  ssize_t read_buffer(Socket& socket, bool& all);
  ssize_t read_payload(Socket& socket, FrameSink& sink);
  Status parse(FrameSink& sink);
  Status parse_payload(FrameSink& sink);
  Status parse_frame(FrameSink& sink, bool& complete);
  Status check(const FrameHeader& header) const;
  void consume(size_t bytes);
  size_t available() const { return end_ - begin_; }

  const uint64_t salt_;
  const bool data_;
  Bytes buffer_;
  size_t begin_ = 0, end_ = 0;   // what of the buffer is not parsed yet
  uint64_t parsed_ = 0;          // bytes of the stream
  std::atomic<uint64_t> received_{0};
  bool in_payload_ = false;
  size_t payload_done_ = 0, payload_left_ = 0;
  Status error_;
};

}  // namespace gt::wire
