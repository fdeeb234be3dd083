#include "transport/link/net/control_channel.h"

namespace gt::wire {

Status ControlChannel::send(std::span<const ByteView> parts, bool more) {
  size_t bytes = 0;
  for (const ByteView part : parts) bytes += part.size();
  if (bytes > LargestFrame) return {Kind::Invalid, "a frame is larger than a link takes"};
  UniqueLock lock(channel_.mutex());
  GT_TRY(wait_for_room(lock, bytes));
  channel_.append(FrameType::Message, {}, bytes);
  for (const ByteView part : parts) channel_.out().copy(part);
  held_bytes_ += bytes;
  if (more && ++held_frames_ < MostHeldFrames && held_bytes_ < MostHeldBytes) {
    channel_.hold();
    return {};
  }
  held_frames_ = held_bytes_ = 0;
  channel_.write();
  return {};
}

Status ControlChannel::wait_for_room(UniqueLock& lock, size_t bytes) {
  const auto kept = [&]()
      GT_REQUIRES(channel_.mutex()) { return channel_.out().end() - channel_.out().acknowledged(); };
  const bool may_wait = !life_.in_handler();
  while (may_wait && !channel_.ended() && kept() + bytes > MostUnacknowledged) {
    channel_.write();
    channel_.changed().wait(lock);
  }
  if (channel_.ended() || bye_) return life_.why_closed();
  if (kept() <= MostFromHandlers) return {};
  const Status why(Kind::Disconnected, "the peer does not read what it is sent");
  channel_.mutex().unlock();
  life_.end(why);
  channel_.mutex().lock();
  return why;
}

Status ControlChannel::push() {
  const MutexLock lock(channel_.mutex());
  if (channel_.ended()) return life_.why_closed();
  held_frames_ = held_bytes_ = 0;
  channel_.write();
  return {};
}

void ControlChannel::say_bye() {
  const MutexLock lock(channel_.mutex());
  if (bye_ || channel_.ended()) return;
  bye_ = true;
  channel_.append(FrameType::Bye);
  bye_end_ = channel_.out().end();
  channel_.write();
}

bool ControlChannel::all_arrived() {
  const MutexLock lock(channel_.mutex());
  return bye_ && channel_.out().acknowledged() >= bye_end_;
}

Status ControlChannel::take_header(const FrameHeader& header) {
  return header.type == FrameType::Ack ? Status() : channel_.acknowledge(header.received, NoSample);
}

Status ControlChannel::take_frame(const FrameHeader& header, ByteView body) {
  if (header.type == FrameType::Ack) return channel_.acknowledge(header.received, NoSample);
  if (peer_bye_) return {};  // its last heartbeats
  if (header.type == FrameType::Message) life_.handler().on_frame(body);
  if (header.type == FrameType::Bye) {
    peer_bye_ = true;
    owner_.peer_says_bye();
  }
  return {};
}

}  // namespace gt::wire
