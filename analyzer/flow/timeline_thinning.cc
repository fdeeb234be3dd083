// Choosing what stays by a least time, then gathering the neighbours between.
#include "analyzer/flow/timeline_thinning.h"

#include <algorithm>
#include <functional>
#include <map>

namespace gt::analyzer {
namespace {

using Block = TimelineBlock;

// Gathers runs of neighbours that are left out. A block's time is never less than that of a block
// inside it, so what is around a kept block is kept.
class Thinning {
 public:
  explicit Thinning(uint64_t least_ns) : least_ns_(least_ns) {}

  // `ties`: how many blocks of just `least_ns` may stay, the first ones.
  std::vector<Block> thin(std::vector<Block>& blocks, size_t& ties) {
    for (Block& b : blocks) {
      const uint64_t ns = b.host_ns + b.device_ns;
      const bool inside = rest_ && b.depth > rest_depth_;
      const bool tie = ns == least_ns_ && ties > 0;
      if (!inside && (ns > least_ns_ || tie)) {
        close();
        if (tie) --ties;
        out_.push_back(std::move(b));
      } else {
        leave_out(b, inside);
      }
    }
    close();
    return std::move(out_);
  }
  uint64_t left_out() const { return left_out_; }

 private:
  void leave_out(const Block& b, bool inside) {
    ++left_out_;
    if (!rest_ || (!inside && b.depth != rest_depth_)) {
      close();
      rest_ = true;
      rest_depth_ = b.depth;
      out_.push_back({});
      out_.back().kind = Block::Kind::Rest;
      out_.back().depth = b.depth;
    }
    Block& r = out_.back();
    ++r.blocks;
    if (!inside) {
      r.host_ns += b.host_ns;
      r.device_ns += b.device_ns;
    }
    if (b.kind == Block::Kind::Call) sums_[{b.shape, b.queue}] += b.times;
    for (const StretchCalls& c : b.calls) sums_[{c.shape, c.queue}] += c.calls;
  }
  void close() {
    if (!rest_) return;
    for (const auto& [key, calls] : sums_) {
      out_.back().calls.push_back({key.first, key.second, calls});
      out_.back().times += calls;
    }
    sums_.clear();
    rest_ = false;
  }

  uint64_t least_ns_;
  std::vector<Block> out_;
  bool rest_ = false;  // out_ ends with a Rest that may grow
  uint32_t rest_depth_ = 0;
  std::map<std::pair<model::ShapeId, uint32_t>, uint64_t> sums_;
  uint64_t left_out_ = 0;
};

}  // namespace

void thin_out(FoldedTimeline& t, size_t most) {
  std::vector<uint64_t> times;
  for (const TimelineTrack& track : t.tracks)
    for (const Block& b : track.blocks) times.push_back(b.host_ns + b.device_ns);
  if (times.size() <= most) return;
  const auto at = times.begin() + static_cast<ptrdiff_t>(most);
  std::nth_element(times.begin(), at, times.end(), std::greater<>());
  const uint64_t least = *at;
  const auto above =
      std::count_if(times.begin(), times.end(), [&](uint64_t ns) { return ns > least; });
  size_t ties = most - static_cast<size_t>(above);
  for (TimelineTrack& track : t.tracks) {
    Thinning thinning(least);
    track.blocks = thinning.thin(track.blocks, ties);
    t.left_out += thinning.left_out();
  }
}

}  // namespace gt::analyzer
