// The file into which what waits for the collector is moved, so that the program need not wait for it.
//
// Pieces (spill_piece.h), one behind the other; those that were taken are given back to the file system. The spool's
// header says where the file is and which bytes of it are still to be taken, so that what is in it survives the
// collector as what is in the rings does (gtrace recover). The file is made when it is first needed.
// Order: a piece is whole in the file before spill_end says so, and that before its records leave the rings.
// Thread safety: none; one process writes.
#pragma once

#include <string>

#include "tracer/lib/spool.h"
#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"

namespace gt::tracer {

class Spill {
 public:
  explicit Spill(SpoolHeader& spool) : spool_(&spool) {}

  // Where it may be made, and how large it may get; 0: half of what is free there. A path that the spool has no room
  // for: nowhere.
  void put_at(const std::string& path, uint64_t most_bytes);
  // The one that another process has left. Nothing to take is no error; what holds no pieces is left alone. None is
  // made afterwards.
  Status reopen();

  bool possible() const { return !path_.empty(); }
  bool empty() const { return begin_ == end_; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

  // System: there is no room now, and nothing has changed.
  Status append(ByteView piece);
  // REQUIRES: at < end(). The piece that lies there.
  Status read(uint64_t at, Bytes& piece) const;
  // REQUIRES: !empty(). Its first piece, of so many bytes, has been taken.
  void drop(uint64_t piece_bytes);
  // Everything in it.
  void drop_all();
  void remove();

 private:
  bool begins_a_piece() const;
  Status make();
  Status write(ByteView piece);
  void forget();

  SpoolHeader* spool_;
  std::string path_;
  Fd file_;
  uint64_t begin_ = 0, end_ = 0;
  uint64_t most_bytes_ = 0;
  uint64_t kept_from_ = 0;    // what lies before was given back
  bool gives_back_ = true;    // the file system can
};

}  // namespace gt::tracer
