// How many bytes a data connection may have under way: as many as keep the path busy without a queue in it.
//
// The idea is Swift's (SIGCOMM 2020), on chunks instead of packets: each acknowledgement tells how long a chunk was on
// its way, without what the receiver held it. The least of these delays is the path's own; what is above it is
// queueing, ours or others'. Below the target the window grows by Step each round trip (at first, and where there is no
// queue at all, in proportion to what is acknowledged), above it shrinks in proportion, at most once a round trip.
// Growing by the same step at every size is what makes flows equal. Chunks are a part of the window, so what a chunk
// takes on the wire by itself does not fill the target.
//
// The path's own delay is measured anew when the clock passes a multiple of 10 s, with one small chunk at a time: all
// flows of a node do so together, so none mistakes the others' queue for the path (BBR does it for the same reason).
// Thread safety: none. Pure: times come in as arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::wire {

class DelayWindow {
 public:
  static constexpr size_t Least = size_t{8} << 10, Most = size_t{64} << 20, First = Least;
  static constexpr size_t LeastChunk = size_t{4} << 10, MostChunk = size_t{256} << 10, Step = size_t{16} << 10;
  static constexpr uint64_t Slack_ns = 400'000;           // queueing that is wanted: covers wake-ups of threads
  static constexpr uint64_t BaseLife_ns = 10'000'000'000;
  static constexpr uint64_t Probe_ns = 40'000'000;        // at least; two round trips

  size_t bytes() const { return probing_ ? LeastChunk : static_cast<size_t>(window_); }
  // What to send in one piece.
  size_t chunk() const;

  // A chunk arrived `delay_ns` after it was sent, the receiver's hold time not counted; with it `acked_bytes` are
  // acknowledged.
  void acknowledged(uint64_t now_ns, size_t acked_bytes, uint64_t delay_ns);

  uint64_t base_ns() const { return base_ns_; }
  uint64_t target_ns() const { return base_ns_ + Slack_ns + base_ns_ / 4; }

 private:
  void measure_base(uint64_t now_ns, uint64_t delay_ns);
  void shrink(uint64_t now_ns, uint64_t delay_ns);

  static constexpr uint64_t Unknown = ~uint64_t{0} >> 2;
  double window_ = First;
  bool starting_ = true, probing_ = false;
  uint64_t base_ns_ = Unknown, epoch_ = Unknown;     // epoch: of the last probe
  uint64_t probe_from_ns_ = 0, probe_until_ns_ = 0, probed_ns_ = Unknown;
  uint64_t shrunk_ns_ = 0, round_trip_ns_ = 0;
};

}  // namespace gt::wire
