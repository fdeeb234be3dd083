// The collector's end of the spool: creates it, and gives the records of all threads in one causal
// order.
//
// Order. Each ring is in order by itself; between rings records are merged by ticks. A record may
// be given only when everything that could have caused it is already visible. read() looks at all
// heads (H1), then at all heads again (H2). What caused a record below H1 was committed before it,
// so it lies below H2. Let m be the earliest time of a record in [H1, H2): records below H1 that
// are earlier than m have all their causes below H1, and are given now.
// Block words count their ticks only while no other ring is used, and so after all that other rings ever held.
// Thread safety: one reader.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracer/lib/spool.h"
#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::tracer {

// A record; or a run of block words, calls and Base words only: type Blocks, ticks those before the first call, each
// call one tick after the one before it.
struct RecordView {
  RecordHeader header;
  ByteView payload;  // valid only during the call
  uint32_t ring;     // index
  const RingHeader* owner;
  // Type Repeat: the payload is the words of the period, and these calls have been made of them, counted from the first.
  uint64_t first_call = 0, calls = 0;
};

class SpoolReader {
 public:
  struct Options {
    uint64_t ring_bytes = 1 << 20;
    uint32_t ring_count = 1024;
    Timing timing = Timing::All;
    uint32_t sample = 1;
    bool record_memory = true;
    Capture capture = Capture::None;
    bool exact_times = false;
    bool paused = false;  // nobody records until resume_recording()
    uint64_t max_trace_bytes = 0;  // 0: no limit
    uint64_t stack_bytes = 0;
    uint64_t most_backlog = 0;   // bytes of records that may wait for the collector in memory, besides the rings
  };
  // A new spool in /dev/shm, else in TMPDIR or /tmp. System: none of them has room.
  static Result<SpoolReader> create(const Options& options);
  // An existing one, for recovery. Corrupt: not a spool, or not one of this version.
  static Result<SpoolReader> open(const std::string& path);
  SpoolReader(SpoolReader&& other) noexcept;
  SpoolReader& operator=(SpoolReader&&) = delete;
  ~SpoolReader();  // unmaps; does not remove the file

  const std::string& path() const { return path_; }
  SpoolHeader& header() { return *header_; }
  void remove();

  using Visitor = std::function<void(const RecordView&)>;
  // Gives what can be given now, and frees its space in the rings. Returns the number of records and block words;
  // what a Repeat has of calls counts as one.
  // With `final`, when nobody writes any more, gives everything. Damaged records end their ring
  // (counted in damaged_rings()).
  uint64_t read(const Visitor& visit, bool final = false);

  // Rings whose thread or process has ended and which are empty become free again; `ended(ring)`
  // tells the caller.
  void recycle(const std::function<void(uint32_t)>& ended);

  uint32_t rings_used() const;
  const RingHeader& ring(uint32_t i) const { return *ring_header(i); }
  uint64_t damaged_rings() const { return damaged_; }

 private:
  struct Cursor {
    uint64_t position = 0;  // our copy of tail
    uint64_t h1 = 0;
    uint64_t ticks = 0;     // of what lies before position
    uint32_t segment = 0;   // where position lies; 0: in the ring itself
    uint64_t segment_start = 0;
    uint64_t repeated = 0;  // calls given of the Repeat at position
    bool broken = false;
  };

  SpoolReader() = default;
  Status map(int fd, uint64_t bytes);
  RingHeader* ring_header(uint32_t i) const;
  uint8_t* data_of(const Cursor& cursor, uint32_t ring) const;
  SegmentLink& link_of(const Cursor& cursor, uint32_t ring) const;
  SegmentHeader* segment_header(uint32_t segment) const;
  bool whole(uint32_t segment) const;  // lies in the file
  bool follow_link(uint32_t i);
  void leave_segment(uint32_t i);

  // What lies at a cursor: a record, or the first of some block words.
  struct Next {
    const uint8_t* at = nullptr;  // nullptr: nothing
    uint64_t ticks = 0;
    bool blocks = false;
    uint64_t repeats = 0;  // of a Repeat: calls that can be given
    const RecordHeader& record() const { return *reinterpret_cast<const RecordHeader*>(at); }
  };
  // The next of ring i below `head`, skipping Pads and Ticks.
  Next peek(uint32_t i, uint64_t head);
  // The same from `from` on, without moving the cursor.
  Next peek_from(uint32_t i, uint64_t from, uint64_t head);
  void damage(Cursor& cursor);
  uint64_t head_of(uint32_t i) const;
  // The calls of a Repeat record that were not given yet. nullopt: there will be none any more, or (damaged) never were.
  std::optional<uint64_t> repeats_left(uint32_t i, const RecordHeader& record, uint64_t head);
  // Gives what peek() found, or as many of the block words as lie below `end` ticks and before `head`.
  uint64_t give(uint32_t i, const Next& next, uint64_t head, uint64_t end, const Visitor& visit);
  uint64_t earliest_beyond(uint32_t used);
  void restore_forms(uint32_t i);
  void give_restored(const Visitor& visit);

  std::string path_;
  SpoolHeader* header_ = nullptr;
  uint64_t mapped_ = 0;
  std::vector<Cursor> cursors_;
  uint64_t damaged_ = 0;
  bool frees_segments_ = true;
  bool final_ = false;  // nobody writes any more
  // Of a spool whose first reader is gone: what its rings' block words stood for where that one stopped.
  struct Restored {
    uint32_t ring;
    uint64_t base;
    std::vector<uint64_t> forms;
  };
  std::vector<Restored> restored_;
};

}  // namespace gt::tracer
