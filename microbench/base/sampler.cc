// The turns.
#include "microbench/base/sampler.h"

#include <algorithm>

#include "microbench/base/interrupt.h"

namespace gt::bench {
namespace {

constexpr int FirstLook = 6;         // turns: fewer samples have no interval of 95 %
constexpr double LookAgain = 1.3;    // times as many turns later
constexpr uint64_t Linear = 1 << 20;  // bytes: from here on a turn's time grows with the size
constexpr uint64_t Large = 64 << 20;
constexpr double LargestWeight = 16;  // shares of the time that the largest size gets more than the smallest

int least_turns(const Goal& goal, uint64_t bytes) { return bytes >= Large ? goal.least_large : goal.least; }

// One size of a sweep.
class Rounds {
 public:
  Rounds(std::span<Probe> probes, uint64_t bytes, const Goal& goal) : probes_(probes), bytes_(bytes), goal_(goal) {
    for (const Probe& p : probes)
      for (const Series* s : p.series) starts_.push_back(s->samples.size());
  }

  Status run(double end_ns) {
    for (Probe& p : probes_) GT_TRY(attempt(p, [&] { return p.prepare(bytes_); }));
    double look = FirstLook;
    for (int turn = 0; turn < goal_.most; ++turn) {
      if (turn >= least_turns(goal_, bytes_) && now_ns() >= end_ns) break;
      if (turn >= look) {
        if (known()) break;
        look *= LookAgain;
      }
      for (Probe& p : probes_) GT_TRY(attempt(p, p.turn));
      ++turns_;
    }
    for (Probe& p : probes_)
      if (!p.refused) p.largest = bytes_;
    return {};
  }
  int turns() const { return turns_; }

 private:
  Status attempt(Probe& p, const std::function<Status()>& step) {
    if (p.refused) return {};
    if (interrupted()) return Status(Kind::Busy, "interrupted");
    Status s = step();
    if (s.kind() != Kind::Unsupported) return s;
    p.refused = true;
    return {};
  }

  bool known() const {
    size_t i = 0;
    for (const Probe& p : probes_)
      for (const Series* s : p.series)
        if (const size_t start = starts_[i++]; !p.refused && !known(*s, start)) return false;
    return true;
  }
  bool known(const Series& s, size_t start) const {
    std::vector<double> times;
    for (size_t i = start; i < s.samples.size(); ++i) times.push_back(s.samples[i].ns);
    return times.empty() || model::median_of(std::move(times)).noise() <= goal_.noise;
  }

  std::span<Probe> probes_;
  uint64_t bytes_;
  const Goal& goal_;
  std::vector<size_t> starts_;  // per series: its samples of smaller sizes
  int turns_ = 0;
};

// How long one turn of all probes took at the sizes so far.
struct TurnTimes {
  uint64_t bytes = 0;  // of the last one; 0: there was none
  double ns = 0, growth = 0;

  void add(uint64_t at, double took_ns) {
    growth = bytes == 0 ? 0 : took_ns / ns;
    bytes = at;
    ns = took_ns;
  }
  // Of a slow driver the time grows with the size long before it does elsewhere.
  double expected(uint64_t at) const {
    if (bytes == 0) return 0;
    const double factor = static_cast<double>(at) / static_cast<double>(bytes);
    return ns * (at > Linear ? factor : std::min(factor, std::max(growth, 2.0)));
  }
};

// Which part of the time that is left the first of `sizes` gets.
double share(std::span<const uint64_t> sizes) {
  const auto weight = [&](uint64_t bytes) {
    return 1 + LargestWeight * static_cast<double>(bytes) / static_cast<double>(sizes.back());
  };
  double sum = 0;
  for (const uint64_t bytes : sizes) sum += weight(bytes);
  return weight(sizes.front()) / sum;
}

}  // namespace

Status sweep(std::span<Probe> probes, const std::vector<uint64_t>& sizes, const Pace& pace) {
  const double end = now_ns() + pace.budget_s * 1e9;
  TurnTimes times;
  for (size_t i = 0; i < sizes.size(); ++i) {
    pace.progress(static_cast<double>(i) / static_cast<double>(sizes.size()));
    const double start = now_ns(), left = end - start;
    if (times.expected(sizes[i]) * least_turns(pace.goal, sizes[i]) > left) break;
    Rounds rounds(probes, sizes[i], pace.goal);
    GT_TRY(rounds.run(start + left * share(std::span(sizes).subspan(i))));
    times.add(sizes[i], (now_ns() - start) / std::max(rounds.turns(), 1));
    if (std::all_of(probes.begin(), probes.end(), [](const Probe& p) { return p.refused; })) break;
  }
  pace.progress(1);
  return {};
}

std::vector<uint64_t> sizes_to_measure(bool quick, uint64_t most) {
  std::vector<uint64_t> sizes;
  const uint64_t factor = quick ? 4 : 2;
  for (uint64_t s = 64; s <= most; s *= factor)
    if (!quick || s >= 4096 || s == 64) sizes.push_back(s);
  if (!sizes.empty() && most > sizes.back() + sizes.back() / 2) sizes.push_back(most / 4096 * 4096);
  return sizes;
}

Result<model::Median> measure(const std::function<Result<double>()>& turn, const Pace& pace) {
  const double end = now_ns() + pace.budget_s * 1e9;
  std::vector<double> times;
  double look = FirstLook;
  for (int i = 0; i < pace.goal.most && (i < pace.goal.least || now_ns() < end); ++i) {
    if (interrupted()) return Status(Kind::Busy, "interrupted");
    const Result<double> ns = turn();
    if (!ns) return ns.status();
    times.push_back(*ns);
    if (i + 1 < look) continue;
    if (model::median_of(times).noise() <= pace.goal.noise) break;
    look *= LookAgain;
  }
  return model::median_of(std::move(times));
}

}  // namespace gt::bench
