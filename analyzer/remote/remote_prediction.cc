// Two replays and their difference; what each queue adds up to.
#include "analyzer/remote/remote_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/remote/call_gaps.h"

namespace gt::analyzer {
namespace {

Terms in_seconds(const Terms& ns) {
  Terms out{};
  for (size_t i = 0; i < TermCount; ++i) out[i] = ns[i] / 1e9;
  return out;
}

Term largest(const Terms& terms) {
  return static_cast<Term>(std::max_element(terms.begin(), terms.end()) - terms.begin());
}

double calls_of(const model::ShapeStats& s) { return static_cast<double>(s.calls - std::min(s.failed, s.calls)); }

bool waits_for_reply(const TimedCall& plan, const model::Shape& shape, const model::ShapeStats& s) {
  if (plan.kind == TimedCall::Kind::WaitQueue) return true;
  // Whether it blocks is a value of the call. What takes longer than its command does, blocks.
  return plan.kind == TimedCall::Kind::Command && shape.moves == model::Direction::DeviceToHost &&
         plan.blocking != TimedCall::NoValue && s.host_ns.sum >= s.device_ns.sum;
}

std::vector<QueueOnLink> queues_on(const model::Trace& trace, const std::vector<TimedCall>& plans,
                                   const model::LinkCosts& link) {
  std::map<model::ClassId, QueueOnLink> queues;
  for (size_t i = 0; i < plans.size(); ++i) {
    const TimedCall& plan = plans[i];
    const bool on_queue = plan.kind == TimedCall::Kind::Command || plan.kind == TimedCall::Kind::WaitQueue;
    if (!on_queue || !plan.queue.known()) continue;
    QueueOnLink& q = queues[plan.queue.cls];
    q.queue = plan.queue.cls;
    const double calls = calls_of(trace.stats[i]);
    if (plan.kind == TimedCall::Kind::Command) q.commands += static_cast<uint64_t>(calls);
    q.device_s += calls * plan.device_ns / 1e9;
    if (plan.put_bytes > 0) q.transfer_s += calls * link.put(plan.put_bytes) / 1e9;
    if (plan.get_bytes > 0) q.transfer_s += calls * link.get(plan.get_bytes) / 1e9;
    if (!waits_for_reply(plan, trace.shapes[i], trace.stats[i])) continue;
    q.waits += static_cast<uint64_t>(calls);
    q.reply_s += calls * 2 * link.latency_ns / 1e9;
  }
  std::vector<QueueOnLink> out;
  for (const auto& [cls, q] : queues) out.push_back(q);
  return out;
}

class Predictor {
 public:
  Predictor(const model::Trace& trace, uint64_t wall_ns) : trace_(trace), wall_ns_(static_cast<double>(wall_ns)) {
    const std::vector<double> gaps = find_call_gaps(trace);
    gaps_recorded_ = !gaps.empty();
    plans_ = time_calls(trace, gaps, doubts_);
    const ReplayWork measured = replay_on_link(trace, plans_, nullptr, 0).work;
    if (measured.waits > 0) {
      wake_ns_ = std::max(0.0, measured.measured_ns - measured.waited_ns) / measured.waits;
    }
    local_ = replay_on_link(trace, plans_, nullptr, wake_ns_);
    if (wall_ns_ <= 0) wall_ns_ = local_.ns;
  }

  RemotePrediction predict(const std::vector<Link>& links) const {
    RemotePrediction out;
    out.measured_s = wall_ns_ / 1e9;
    out.replayed_s = local_.ns / 1e9;
    out.gaps_recorded = gaps_recorded_;
    bool approximate = local_.approximate;
    for (const Link& link : links) {
      out.links.push_back(on(link));
      approximate = approximate || out.links.back().approximate;
    }
    out.doubts = doubts(approximate);
    return out;
  }

 private:
  LinkPrediction on(const Link& link) const {
    const ReplayResult remote = replay_on_link(trace_, plans_, &link.costs, wake_ns_);
    LinkPrediction p;
    p.link = link;
    p.seconds = std::max(wall_ns_ + remote.ns - local_.ns, remote.ns) / 1e9;
    p.slowdown = wall_ns_ > 0 ? p.seconds * 1e9 / wall_ns_ : 1;
    p.parts_s = in_seconds(remote.parts);
    Terms all = p.parts_s;  // the host's share of the whole run, not of the replay alone
    all[static_cast<size_t>(Term::Host)] += std::max(0.0, p.seconds - remote.ns / 1e9);
    p.parts_s = all;
    p.dominates = largest(all);
    p.replies = remote.work.replies;
    for (size_t i = 0; i < plans_.size(); ++i) {
      p.put_bytes += calls_of(trace_.stats[i]) * plans_[i].put_bytes;
      p.get_bytes += calls_of(trace_.stats[i]) * plans_[i].get_bytes;
    }
    p.approximate = remote.approximate;
    p.queues = queues_on(trace_, plans_, link.costs);
    return p;
  }

  std::vector<std::string> doubts(bool approximate) const {
    std::vector<std::string> out;
    if (!gaps_recorded_) {
      out.push_back(
          "The program's own time between calls is not in the trace (gtrace run --timeline records it): nothing is "
          "hidden behind it, so the truth may be better.");
    }
    if (doubts_.untimed_commands > 0) {
      out.push_back(
          fmt::format("{} of {} kernel runs and transfers have no device time; they count as long as calls "
                      "waited for them.",
                      doubts_.untimed_commands, doubts_.commands));
    }
    if (doubts_.user_events) out.push_back("User events count as complete when they are made.");
    if (trace_.threads.size() > 1) {
      out.push_back("Threads count as running side by side, each as soon as what it uses is there.");
    }
    if (approximate) {
      out.push_back(
          "The program is so irregular that only the first part of its loops was replayed; the rest takes "
          "the mean.");
    }
    return out;
  }

  const model::Trace& trace_;
  double wall_ns_;
  bool gaps_recorded_ = false;
  TimingDoubts doubts_;
  std::vector<TimedCall> plans_;
  double wake_ns_ = 0;
  ReplayResult local_;
};

}  // namespace

Term QueueOnLink::dominates() const {
  Terms terms{};
  terms[static_cast<size_t>(Term::Latency)] = reply_s;
  terms[static_cast<size_t>(Term::Bandwidth)] = transfer_s;
  terms[static_cast<size_t>(Term::Device)] = device_s;
  return largest(terms);
}

const char* term_name(Term term) {
  constexpr const char* Names[] = {"latency", "bandwidth", "device", "host"};
  return Names[static_cast<size_t>(term)];
}

RemotePrediction predict_remote(const model::Trace& trace, const std::vector<Link>& links, uint64_t wall_ns) {
  if (links.empty()) return {};
  return Predictor(trace, wall_ns).predict(links);
}

}  // namespace gt::analyzer
