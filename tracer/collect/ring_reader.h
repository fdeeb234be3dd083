// Walks through what one ring holds: records, block words, calls that repeat, from one segment into the next.
//
// A copy walks on its own: as a Look it frees nothing, and so may look at what lies ahead.
// Damage ends the walk: a ring is another process's, and nothing in it is trusted.
// Thread safety: one reader of a ring; its thread may write meanwhile. Cost: some ns for a record or word.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tracer/lib/spool.h"
#include "traces/base/bytes.h"

namespace gt::tracer {

// A record; or a run of block words, calls and Base words only: type Blocks, ticks those before the first call, each
// call one tick after the one before it.
struct RecordView {
  RecordHeader header;
  ByteView payload;  // valid only during the call
  uint32_t ring;     // index
  const RingHeader* owner;
  // Type Repeat: the payload is the words of the period; these calls have been made of them, counted from the first.
  uint64_t first_call = 0, calls = 0;
};
using RecordVisitor = std::function<void(const RecordView&)>;

// A mapped spool.
struct SpoolMemory {
  SpoolHeader* header = nullptr;
  uint64_t bytes = 0;

  RingHeader& ring(uint32_t i) const;
  SegmentHeader& segment(uint32_t number) const;
  bool has_segment(uint32_t number) const;  // within the file
};

class RingReader {
 public:
  // Of a ring that nobody has read. Does not touch its memory, which may not be there yet.
  RingReader(const SpoolMemory& spool, uint32_t ring) : spool_(spool), ring_(ring) {}
  void take_over();  // goes on where the last reader has stopped
  // How far it has come. What another reader's place() was can be gone to by one that has taken over.
  struct Place {
    uint64_t position = 0, repeated = 0, ticks = 0;
  };
  Place place() const { return {position_, repeated_, ticks_}; }
  void go_to(const Place& place);
  // From here on what is given stays where it is, until release() says that it may go.
  void hold() { holds_ = true; }
  void release();
  // One that looks ahead, from here or from a later position, and leaves everything as it is. `ticks`: as late as what
  // lies before that position, or earlier.
  RingReader look() const;
  RingReader look_from(uint64_t position, uint64_t ticks) const;

  // What comes next: a record, the first of some block words, or calls of a Repeat.
  struct Next {
    const uint8_t* at = nullptr;  // nullptr: nothing (now)
    uint64_t ticks = 0;
    bool blocks = false;
    uint64_t repeats = 0;  // of a Repeat: calls that can be given
    bool waits = false;    // for the next see(): a Repeat, of which calls were counted since
    const RecordHeader& record() const { return *reinterpret_cast<const RecordHeader*>(at); }
  };
  // Below `head`. `over`: nobody writes any more. Skips Pads and Ticks.
  Next peek(uint64_t head, bool over);
  // Gives what peek() has just found, or as much of block words and calls as lies below `end` ticks and before `head`.
  // Returns how many records and words that was; calls of a Repeat count as one.
  uint64_t give(const Next& next, uint64_t head, uint64_t end, const RecordVisitor& visit);

  uint64_t head() const;  // as far as it makes sense
  // The same; and of a Repeat that its thread still counts up, and that peek() has found, as many calls as there are
  // now can be given from here on.
  uint64_t see();
  uint64_t position() const { return position_; }
  bool damaged() const { return damaged_; }
  void publish();  // the thread may write over what was given
  void begin_again();  // the ring has ended, and is empty: its next owner begins in the ring itself

 private:
  // From one segment into the next, which begins at the position.
  struct Crossing {
    uint64_t position;
    uint32_t from, to;
  };

  SegmentLink& link() const;
  const uint8_t* data() const;
  bool follow_link();
  void walk_to(uint64_t position);
  void cross(const Crossing& crossing);
  void give_back(uint32_t segment);
  void publish_at(uint64_t position, uint64_t repeated);
  std::optional<Next> next_of_repeat(const RecordHeader& record, uint64_t head, bool over);

  SpoolMemory spool_;
  uint32_t ring_;
  bool looks_ = false;         // frees nothing
  bool holds_ = false;         // not yet
  std::vector<Crossing> held_;  // what release() has to do
  bool damaged_ = false;
  uint64_t position_ = 0;      // our copy of tail
  uint64_t ticks_ = 0;         // of what lies before it
  uint32_t segment_ = 0;       // where it lies; 0: in the ring itself
  uint64_t segment_start_ = 0;
  uint64_t repeated_ = 0;      // calls given of the Repeat there
  static constexpr uint64_t Nowhere = ~uint64_t{0};
  uint64_t grows_at_ = Nowhere;  // position of a Repeat that was still counted up
  uint64_t seen_calls_ = 0;      // of it
};

}  // namespace gt::tracer
