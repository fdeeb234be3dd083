#include "tracer/gtrace/replay/step_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace gt::tracer {

namespace {

bool send_all(int socket, const uint8_t* at, size_t n) {
  while (n > 0) {
    const ssize_t sent = ::send(socket, at, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    n -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, uint8_t* at, size_t n) {
  while (n > 0) {
    const ssize_t got = ::recv(socket, at, n, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    n -= static_cast<size_t>(got);
  }
  return true;
}

constexpr size_t HeadBytes = 9;
constexpr uint64_t LongestBody = uint64_t{1} << 36;

}  // namespace

bool StepChannel::send(StepKind kind, ByteView body) const {
  std::array<uint8_t, HeadBytes> head{static_cast<uint8_t>(kind)};
  const uint64_t size = body.size();
  std::memcpy(head.data() + 1, &size, sizeof size);
  return send_all(socket_.get(), head.data(), head.size()) && send_all(socket_.get(), body.data(), body.size());
}

std::optional<StepMessage> StepChannel::receive() const {
  std::array<uint8_t, HeadBytes> head{};
  if (!receive_all(socket_.get(), head.data(), head.size())) return std::nullopt;
  StepMessage message{static_cast<StepKind>(head[0]), {}};
  uint64_t size = 0;
  std::memcpy(&size, head.data() + 1, sizeof size);
  if (size > LongestBody) return std::nullopt;
  message.body.resize(size);
  if (!receive_all(socket_.get(), message.body.data(), size)) return std::nullopt;
  return message;
}

void StepChannel::say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }

void StepChannel::end() const { ::shutdown(socket_.get(), SHUT_RDWR); }

Result<std::pair<StepChannel, StepChannel>> step_channels() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_error("cannot replay: socketpair", errno);
  return std::pair(StepChannel(Fd(ends[0])), StepChannel(Fd(ends[1])));
}

Bytes encode(const LaunchReport& report) {
  ByteWriter out;
  out.varint(report.launch.thread);
  out.varint(report.launch.number);
  out.text(report.kernel);
  out.varint(report.nth);
  out.u8(report.unseen);
  out.varint(report.outputs.size());
  for (const OutputReport& o : report.outputs) {
    out.varint(o.argument);
    out.text(o.name);
    out.u8(static_cast<uint8_t>(o.type));
    out.varint(o.size);
    out.fixed64(o.hash.low);
    out.fixed64(o.hash.high);
    out.varint(o.cls);
    out.svarint(o.slot);
  }
  return out.take();
}

std::optional<LaunchReport> decode_launch(ByteView body) {
  ByteReader in(body);
  LaunchReport report;
  report.launch.thread = static_cast<model::ThreadId>(in.varint());
  report.launch.number = in.varint();
  report.kernel = in.text();
  report.nth = in.varint();
  report.unseen = in.u8() != 0;
  for (uint64_t n = in.varint(); n > 0 && in.ok(); --n) {
    OutputReport& o = report.outputs.emplace_back();
    o.argument = static_cast<uint32_t>(in.varint());
    o.name = in.text();
    const uint8_t type = in.u8();
    if (type <= static_cast<uint8_t>(ElementType::Double)) o.type = static_cast<ElementType>(type);
    o.size = in.varint();
    o.hash.low = in.fixed64();
    o.hash.high = in.fixed64();
    o.cls = static_cast<model::ClassId>(in.varint());
    o.slot = in.svarint();
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return report;
}

Bytes encode(const StepAnswer& answer, ByteView data) {
  ByteWriter out;
  out.varint(answer.launch.thread);
  out.varint(answer.launch.number);
  out.varint(answer.argument);
  out.bytes(data);
  return out.take();
}

std::optional<StepAnswer> decode_answer(ByteView body, Bytes* data) {
  ByteReader in(body);
  StepAnswer answer;
  answer.launch.thread = static_cast<model::ThreadId>(in.varint());
  answer.launch.number = in.varint();
  answer.argument = static_cast<uint32_t>(in.varint());
  const ByteView bytes = in.bytes();
  if (!in.ok()) return std::nullopt;
  if (data) data->assign(bytes.begin(), bytes.end());
  return answer;
}

}  // namespace gt::tracer
