// What the collector has not taken yet: gives it, in order, and keeps the program from waiting for it.
//
// As long as the collector keeps up, records go from the rings to it. When an eighth of the memory for them is full,
// they are moved in bulk into a file (spill.h), and from there on everything goes through that, until it is empty:
// moving what waits in the rings comes before taking what waits in the file. So the rings, and the few segments that
// they go on in, are used again and again while they are in the caches. Not earlier: a record that goes through the
// file costs 5 to 16 ns more, and most bursts are over before that. Where nothing can be moved (a full disk, a limit),
// records stay in the rings, and the program waits when these are full.
// The same records come in the same order, whichever way they went.
// Thread safety: none.
#pragma once

#include <span>
#include <string>

#include "tracer/collect/spill.h"
#include "tracer/collect/spill_piece.h"
#include "tracer/collect/spool_reader.h"

namespace gt::tracer {

class Backlog {
 public:
  // Both must outlive it. What it gives goes to `visitor`; `ended` tells of rings as SpoolReader::recycle().
  Backlog(SpoolReader& spool, PieceVisitor visitor)
      : spool_(spool), visitor_(std::move(visitor)), spill_(spool.header()) {}

  struct Amounts {
    uint64_t begin;  // bytes that may wait in the rings before any are moved
    uint64_t keep;   // the same as long as there is something in the file: some milliseconds of the busiest thread
    uint64_t piece;  // that are moved at a time
  };
  static Amounts amounts_for(const SpoolHeader& spool);
  // Where the file may be made and how large it may get (spill.h). Before the first take().
  void spill_to(const std::string& path, uint64_t most_bytes) {
    spill_to(path, most_bytes, amounts_for(spool_.header()));
  }
  void spill_to(const std::string& path, uint64_t most_bytes, const Amounts& amounts);
  // Of a spool whose collector died: what that one had moved comes first.
  void recover();

  // Nobody records any more, and so nobody will wait: what is in the rings is taken from there, when its turn comes.
  void stop_moving() { moves_ = false; }
  // Gives what can be given now, or about `most` of it; the number of records and words, as SpoolReader::read().
  static constexpr uint64_t All = ~uint64_t{0};
  uint64_t take(uint64_t most = All);
  // Nobody writes any more: gives everything.
  uint64_t take_all();
  void remove_file() { spill_.remove(); }

  uint64_t waiting_bytes() const { return spool_.waiting_bytes() + spilled_waiting_; }
  uint64_t spilled_bytes() const { return spilled_; }  // of records that went through the file
  uint64_t lost_pieces() const { return lost_pieces_; }
  const Status& trouble() const { return trouble_; }  // why something was not moved, the first time

 private:
  bool holds() const { return !spill_.empty() || !unwritten_.empty(); }
  bool sheds() const {
    return holds() || (moves_ && spill_.possible() && spool_.waiting_bytes() > amounts_.begin);
  }
  uint64_t take_directly(uint64_t most);
  uint64_t take_moved(uint64_t most);
  void shed();
  bool shed_piece();
  void end_rings();
  bool move_out(uint64_t records);
  bool write_out();
  void settle();
  void recycle();
  uint64_t take_piece();
  uint64_t give(ByteView piece);

  SpoolReader& spool_;
  PieceVisitor visitor_;
  Spill spill_;
  Amounts amounts_{};
  bool moves_ = true;
  PieceWriter writer_;
  PieceReader reader_;
  Bytes piece_;      // of the file
  Bytes unwritten_;  // a piece for which the file has no room (yet); its records are held in the rings
  std::vector<uint32_t> ending_;  // rings of which the last piece says that they have ended
  uint64_t spilled_waiting_ = 0, spilled_ = 0, lost_pieces_ = 0, takes_ = 0;
  Status trouble_;
};

}  // namespace gt::tracer
