// A loop in which nothing but calls stand, as expand() comes upon it: whoever makes the same few calls again and again
// reads their values round by round, and is not told of each.
// Thread safety: none; it is gone when the visitor returns.
#pragma once

#include <span>
#include <vector>

#include "traces/model/folded/node_reader.h"

namespace gt::model {

class Rounds {
 public:
  // `counters`: of the loops around the calls, the innermost last; it tells how many rounds there were.
  Rounds(std::vector<NodeReader>& calls, std::vector<uint64_t>& counters, uint64_t rounds)
      : calls_(calls), counters_(counters), left_(rounds - counters.back()) {}

  size_t size() const { return calls_.size(); }  // calls in a round
  uint64_t left() const { return left_; }        // rounds that have not ended

  const Node& node(size_t call) const { return *calls_[call].node; }
  bool varies(size_t call) const { return !calls_[call].values.empty(); }
  // As it was read last; before that, of the values only those are right that never vary.
  std::span<const int64_t> row(size_t call) const { return calls_[call].row; }

  // The values of a call of this round, into its row: each that varies once, in their order. False: they are damaged,
  // and nothing more may be read. REQUIRES: left() > 0.
  bool read(size_t call) { return sound_ = calls_[call].read(counters_); }
  // All calls of the round were read.
  void end_round() {
    ++counters_.back();
    --left_;
  }
  // So many calls of the round that follows were read, and no more will be. REQUIRES: fewer than size().
  void end_within(size_t calls) { within_ = calls; }

  size_t within() const { return within_; }
  bool sound() const { return sound_; }

 private:
  std::vector<NodeReader>& calls_;
  std::vector<uint64_t>& counters_;
  uint64_t left_;
  size_t within_ = 0;
  bool sound_ = true;
};

}  // namespace gt::model
