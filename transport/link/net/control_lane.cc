#include "transport/link/net/control_lane.h"

namespace gt::wire {

Status ControlLane::send(std::span<const ByteView> parts, bool more) {
  size_t bytes = 0;
  for (const ByteView part : parts) bytes += part.size();
  if (bytes > LargestFrame) return {Kind::Invalid, "a frame is larger than a link takes"};
  std::unique_lock lock(lane_.mutex());
  GT_TRY(wait_for_room(lock, bytes));
  lane_.append(FrameType::Message, {}, bytes);
  for (const ByteView part : parts) lane_.out().copy(part);
  held_bytes_ += bytes;
  if (more && ++held_frames_ < MostHeldFrames && held_bytes_ < MostHeldBytes) {
    lane_.hold();
    return {};
  }
  held_frames_ = held_bytes_ = 0;
  lane_.write();
  return {};
}

Status ControlLane::wait_for_room(std::unique_lock<std::mutex>& lock, size_t bytes) {
  const auto kept = [&] { return lane_.out().end() - lane_.out().acknowledged(); };
  const bool may_wait = !owner_.in_handler();
  while (may_wait && !lane_.ended() && kept() + bytes > MostUnacknowledged) {
    lane_.write();
    lane_.changed().wait(lock);
  }
  if (lane_.ended() || bye_) return owner_.why_closed();
  if (kept() <= MostFromHandlers) return {};
  lock.unlock();
  const Status why(Kind::Disconnected, "the peer does not read what it is sent");
  owner_.fail(why);
  return why;
}

Status ControlLane::push() {
  const std::lock_guard lock(lane_.mutex());
  if (lane_.ended()) return owner_.why_closed();
  held_frames_ = held_bytes_ = 0;
  lane_.write();
  return {};
}

void ControlLane::say_bye() {
  const std::lock_guard lock(lane_.mutex());
  if (bye_ || lane_.ended()) return;
  bye_ = true;
  lane_.append(FrameType::Bye);
  bye_end_ = lane_.out().end();
  lane_.write();
}

bool ControlLane::all_arrived() {
  const std::lock_guard lock(lane_.mutex());
  return bye_ && lane_.out().acknowledged() >= bye_end_;
}

Status ControlLane::take_header(const FrameHeader& header) {
  return header.type == FrameType::Ack ? Status() : lane_.acknowledge(header.received, NoSample);
}

Status ControlLane::take_frame(const FrameHeader& header, ByteView body) {
  if (header.type == FrameType::Ack) return lane_.acknowledge(header.received, NoSample);
  if (peer_bye_) return {};  // its last heartbeats
  if (header.type == FrameType::Message) owner_.handler().on_frame(body);
  if (header.type == FrameType::Bye) {
    peer_bye_ = true;
    owner_.peer_says_bye();
  }
  return {};
}

}  // namespace gt::wire
