// The collector's end of the spool: creates it, and gives the records of all threads in one causal
// order.
//
// Order. Each ring is in order by itself; between rings records are merged by ticks. A record may
// be given only when everything that could have caused it is already visible. read() looks at all
// heads (H1), then at all heads again (H2). What caused a record below H1 was committed before it,
// so it lies below H2. Let m be the earliest time of a record in [H1, H2): records below H1 that
// are earlier than m have all their causes below H1, and are given now.
// Ticks of memory calls may have been counted, not read: what then holds between rings is said in
// tracer/lib/solitude.h. Of a Repeat that is still counted up, those calls can be given that were there at H1; what
// comes later than its next one then waits, if there is one, since that one may be the cause.
// Thread safety: one reader.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tracer/collect/forms_before.h"
#include "tracer/collect/ring_reader.h"
#include "tracer/lib/call_counts.h"
#include "tracer/lib/spool.h"
#include "traces/base/status.h"

namespace gt::tracer {

class SpoolReader {
 public:
  struct Options {
    uint64_t ring_bytes = 1 << 20;
    uint32_t ring_count = 1024;
    Timing timing = Timing::All;
    uint32_t sample = 1;
    bool record_memory = true;
    Capture capture = Capture::None;
    CaptureChoice choice{};
    bool exact_times = false;
    bool paused = false;  // nobody records until resume_recording()
    uint64_t max_trace_bytes = 0;  // 0: no limit
    uint64_t stack_bytes = 0;
    uint64_t listed_from = 0;    // 0: no memory call is only counted
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
  SpoolHeader& header() { return *memory_.header; }
  void remove();

  using Visitor = RecordVisitor;
  // Gives what can be given now, and frees its space in the rings. Returns the number of records and block words;
  // what a Repeat has of calls counts as one.
  // After about `most` it returns, though there may be more.
  // With `final`, when nobody writes any more, gives everything. Damaged records end their ring
  // (counted in damaged_rings()).
  uint64_t read(const Visitor& visit, bool final = false, uint64_t most = ~uint64_t{0});

  // Rings whose thread or process has ended and which are empty become free again; `ended(ring)`
  // tells the caller.
  void recycle(const std::function<void(uint32_t)>& ended);
  // The same by hand.
  std::vector<uint32_t> ended_rings();
  void free_ring(uint32_t ring);

  // What read() gives from here on keeps its space in the rings, until release(). It returns after about so many bytes.
  void hold(uint64_t most_bytes);
  void release();
  // How far each ring that was used has been given.
  std::vector<RingReader::Place> places() const;
  // REQUIRES: this one is open()ed, and has not read. What another reader has given up to its places() lies elsewhere,
  // beginning with what `before` of each ring is about; goes on behind it.
  void go_on_behind(std::span<const RingReader::Place> places, std::vector<FormsBefore> before);
  // What the first reader's rings stood for where this one begins; read() gives it by itself.
  void give_restored(const Visitor& visit);

  uint64_t waiting_bytes() const;  // of records that were not given yet
  uint32_t rings_used() const;
  const RingHeader& ring(uint32_t i) const { return memory_.ring(i); }
  CallCounts* counts(uint32_t ring) const;  // what its thread counts; nullptr: nothing, or nobody owns it
  uint64_t damaged_rings() const;

 private:
  SpoolReader() = default;
  Status map(int fd, uint64_t bytes);
  void add_rings(uint64_t count);
  uint64_t earliest_beyond();
  uint64_t read_round(const Visitor& visit, bool final, uint64_t most, bool& repeat_waits);

  struct Ring {
    RingReader reader;
    uint64_t h1 = 0, clock = 0;  // RingHeader::clock before that
  };

  std::string path_;
  SpoolMemory memory_;
  std::vector<Ring> rings_;
  uint64_t cut_off_ = 0;  // rings that a file that was cut short has lost
  uint64_t most_bytes_ = ~uint64_t{0};
  bool restores_ = false;            // another one has read before us
  std::vector<FormsBefore> before_;  // of a ring each: what is known of it already
};

}  // namespace gt::tracer
