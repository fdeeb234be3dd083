#include "transport/link/net/frame_reader.h"

#include "transport/link/base/link.h"

namespace gt::wire {
namespace {

constexpr size_t ControlBuffer = size_t{64} << 10;
constexpr size_t DataBuffer = size_t{4} << 10;  // little: what of a payload comes into it is copied once more
constexpr int Turns = 16;                       // reads before others have their turn

Status damaged(const char* what) { return {Kind::Corrupt, std::string("the peer sent ") + what}; }

bool is_direct(FrameType type) { return type == FrameType::Put || type == FrameType::Got; }

}  // namespace

FrameReader::FrameReader(uint64_t salt, bool data)
    : salt_(salt), data_(data), buffer_(data ? DataBuffer : ControlBuffer) {}

FrameReader::Outcome FrameReader::read(Socket& socket, FrameSink& sink) {
  for (int turn = 0; turn < Turns; ++turn) {
    bool all = false;
    const ssize_t n = payload_left_ > 0 ? read_payload(socket, sink) : read_buffer(socket, all);
    if (!error_.ok()) return Outcome::Bad;
    if (n <= 0) return n == 0 ? Outcome::Drained : Outcome::Over;
    received_.store(received() + static_cast<uint64_t>(n), std::memory_order_relaxed);
    error_ = parse(sink);
    if (!error_.ok()) return Outcome::Bad;
    if (all) return Outcome::Drained;
  }
  return Outcome::More;
}

// All: it took what there was, so asking again is a system call for nothing. (Amid a payload it is not: more of it is
// under way then, and mostly there.)
ssize_t FrameReader::read_buffer(Socket& socket, bool& all) {
  const iovec part{buffer_.data() + end_, buffer_.size() - end_};
  const ssize_t n = socket.read({&part, 1});
  all = n > 0 && static_cast<size_t>(n) < part.iov_len && !socket.is_protected();
  if (n > 0) end_ += static_cast<size_t>(n);
  return n;
}

// The rest of the payload, and the beginning of what follows it. REQUIRES: the buffer is empty.
ssize_t FrameReader::read_payload(Socket& socket, FrameSink& sink) {
  ssize_t n = -1;
  const auto read_to = [&](char* target) {
    const iovec parts[] = {{target, payload_left_}, {buffer_.data(), buffer_.size()}};
    n = socket.read(parts);
  };
  if (!sink.at_target(payload_done_, payload_left_, read_to)) error_ = damaged("data for memory that is not exposed");
  bool all = false;
  if (n == Socket::Untouchable) return read_buffer(socket, all);  // what copies it from there touches as a driver does
  if (n <= 0) return n;
  const size_t payload = std::min(static_cast<size_t>(n), payload_left_);
  payload_done_ += payload;
  payload_left_ -= payload;
  parsed_ += payload;
  end_ = static_cast<size_t>(n) - payload;
  return n;
}

void FrameReader::consume(size_t bytes) {
  begin_ += bytes;
  parsed_ += bytes;
}

Status FrameReader::parse(FrameSink& sink) {
  for (bool complete = true; complete;) {
    if (in_payload_) GT_TRY(parse_payload(sink));
    if (in_payload_) break;
    GT_TRY(parse_frame(sink, complete));
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, available());
  end_ -= begin_;
  begin_ = 0;
  return {};
}

Status FrameReader::parse_payload(FrameSink& sink) {
  if (const size_t n = std::min(payload_left_, available()); n > 0) {
    const auto copy = [&](char* target) { std::memcpy(target, buffer_.data() + begin_, n); };
    if (!sink.at_target(payload_done_, n, copy)) return damaged("data for memory that is not exposed");
    payload_done_ += n;
    payload_left_ -= n;
    consume(n);
  }
  if (payload_left_ > 0) return {};
  in_payload_ = false;
  return sink.end_payload();
}

Status FrameReader::check(const FrameHeader& header) const {
  if (header.check != header_check(header, salt_)) return damaged("bytes that are no frame");
  if (header.position != parsed_) return damaged("a frame out of place");
  const size_t head = head_bytes(header.type), rest = header.length - head;
  if (header.length < head) return damaged("a frame that is too short");
  switch (header.type) {
    case FrameType::Message:
      return !data_ && rest <= LargestFrame ? Status() : damaged("a frame that is too long");
    case FrameType::Put:
    case FrameType::Got:
      return data_ && rest <= LargestChunk ? Status() : damaged("a chunk that is too long");
    case FrameType::Get:
      return data_ && rest == 0 ? Status() : damaged("a request of another length");
    case FrameType::Ack:
    case FrameType::Beat:
    case FrameType::Bye:
      return rest == 0 ? Status() : damaged("a frame of another length");
  }
  return damaged("a frame of an unknown type");
}

// One frame, or the beginning of one with a payload. Not complete: more bytes are needed.
Status FrameReader::parse_frame(FrameSink& sink, bool& complete) {
  complete = false;
  FrameHeader header;
  if (available() < sizeof header) return {};
  std::memcpy(&header, buffer_.data() + begin_, sizeof header);
  GT_TRY(check(header));
  const bool direct = is_direct(header.type);
  const size_t wanted = sizeof header + (direct ? head_bytes(header.type) : header.length);
  if (available() < wanted) {
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    return {};
  }
  complete = true;
  GT_TRY(sink.take_header(header));
  const ByteView body = ByteView(buffer_).subspan(begin_ + sizeof header, wanted - sizeof header);
  if (!direct) {
    const Status taken = sink.take_frame(header, body);
    consume(wanted);
    return taken;
  }
  GT_TRY(sink.begin_payload(header, body));
  consume(wanted);
  in_payload_ = true;
  payload_done_ = 0;
  payload_left_ = header.length - head_bytes(header.type);
  return {};
}

}  // namespace gt::wire
