// Timeline: when each call of a stream was (gtrace run --timeline), apart from the folded calls, which know no time.
//
// Times are ns since the start of recording, on the host's clock; those of commands were brought there (DeviceClock).
//
//   timeline = 1 varint(events) column(entry) column(duration) varint(commands) column(event) column(start)
//              column(length)
//   column   = varint(chunks) bytes{chunks}           chunks of column.h; as many values as the count before it
//
// The k-th entry and duration are those of the k-th event of the stream. duration 0: not known (memory calls are not
// timed, a call that never returned has none), else ns + 1. Commands are sorted by the event that enqueued them; an
// event without device times has none.
// Memory: about six bytes an event of irregular times; compressed while it grows.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "traces/base/bytes.h"
#include "traces/model/series/column.h"

namespace gt::model {

constexpr uint8_t TimelineVersion = 1;

struct EventTime {
  uint64_t entry_ns = 0;
  std::optional<uint64_t> duration_ns;
};
struct CommandTime {
  uint64_t event = 0;
  uint64_t start_ns = 0, length_ns = 0;
};

// The offset of a device's clock to the host's, from what must be true of every command: it started after its call was
// entered, and ended before we saw that it had. So host = device + offset with offset in
//   [ max(entry - start), min(seen - end) ]
// The middle is taken, and half the width is the error. Clocks drift against each other: bounds are kept for each
// Window of device time and hold in other windows with a slack of MaxDrift.
class DeviceClock {
 public:
  static constexpr uint64_t Window = uint64_t{1} << 30;  // ns: about a second
  static constexpr int64_t SlackPerWindow = 100'000;     // ns: clocks of one machine drift by less than 100 ppm

  // entry, seen: host ns. start, end: device ns.
  void add(uint64_t entry_ns, uint64_t start, uint64_t end, uint64_t seen_ns);
  // No more add() after this.
  void settle();
  // REQUIRES: settle() was called.
  uint64_t to_host(uint64_t device_ns) const;
  int64_t error_ns() const;  // of the worst window; negative bounds (clocks that jump) count as they are wide

 private:
  struct Bounds {
    int64_t low = INT64_MIN, high = INT64_MAX;
    int64_t middle() const { return low + (high - low) / 2; }
  };
  std::map<uint64_t, Bounds> windows_;  // by device time / Window
};

class TimelineBuilder {
 public:
  void add_event(uint64_t entry_ns, std::optional<uint64_t> duration_ns);
  // The event added last enqueued a command whose times will come.
  void expect_command();
  // Device times of `event`'s command; nullptr: they will never come. Events that are not expected are ignored.
  void add_command(uint64_t event, const DeviceClock* clock, uint64_t start, uint64_t length);

  uint64_t events() const { return entry_.size(); }
  size_t memory_bytes() const;
  // REQUIRES: the clocks given have settled, and live.
  Bytes encode() const;

 private:
  // Times come in another order than the calls when several queues are in use. What waits for an older one is
  // bounded: a command that never completes must not keep all later ones in memory.
  static constexpr size_t MaxWaiting = size_t{1} << 18;
  struct Waiting {
    uint64_t event = 0;
    bool done = false;
    const DeviceClock* clock = nullptr;
    uint64_t start = 0, length = 0;
  };
  void retire(size_t keep);

  ColumnBuilder entry_, duration_;
  std::deque<Waiting> waiting_;  // sorted by event
  ColumnBuilder event_, start_, length_, clock_;
  std::vector<const DeviceClock*> clocks_;  // clock_ holds indices into it
};

// Reads a timeline in order. Damage shows as an end that comes too early: ok() is false then.
class TimelineReader {
 public:
  // Nothing when the bytes are no timeline, or of a later version.
  static std::optional<TimelineReader> open(ByteView bytes);

  uint64_t events() const { return events_; }
  // False at the end.
  bool next(EventTime& time);
  // The command that the event just read enqueued, if its times are known.
  std::optional<CommandTime> command();
  bool ok() const { return ok_; }

 private:
  struct Part {
    std::shared_ptr<const Column> column;
    ColumnReader reader;
    explicit Part(std::shared_ptr<const Column> c) : column(std::move(c)), reader(*column) {}
  };
  TimelineReader(uint64_t events, uint64_t commands) : events_(events), commands_(commands) {}
  void next_command();

  uint64_t events_, commands_;
  std::vector<Part> parts_;  // in the order of the format
  uint64_t position_ = 0;    // events read
  std::optional<CommandTime> ahead_;
  bool ok_ = true;
};

}  // namespace gt::model
