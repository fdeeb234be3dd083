#include "tracer/gtrace/replay/against.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>

#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {

namespace {

class InStep {
 public:
  InStep(StepProcess& a, StepProcess& b, const AgainstOptions& options) : sides_{&a, &b}, options_(options) {}

  AgainstOutcome run() {
    while (!decided_) {
      match();
      if (!decided_) listen();
    }
    for (size_t i = 0; i < sides_.size(); ++i) {
      if (!sides_[i]->ended) sides_[i]->stop();
      outcome_.sides[i] = sides_[i]->side;
    }
    outcome_.contents = sides_[0]->contents;
    return outcome_;
  }

 private:
  using Kind = AgainstOutcome::Kind;

  void decide(Kind kind, size_t side = 0) {
    outcome_.kind = kind;
    outcome_.side = side;
    decided_ = true;
  }

  // What both have launched is compared.
  void match() {
    for (auto it = sides_[0]->launches.begin(); it != sides_[0]->launches.end() && !decided_;) {
      const auto other = sides_[1]->launches.find(it->first);
      if (other == sides_[1]->launches.end()) {
        ++it;
        continue;
      }
      const bool unseen = it->second.unseen || other->second.unseen;
      unseen ? static_cast<void>(++outcome_.unseen) : compare(it->second, other->second);
      if (!decided_) go_on(it->first);
      sides_[1]->launches.erase(other);
      it = sides_[0]->launches.erase(it);
    }
    for (size_t i = 0; i < sides_.size() && !decided_; ++i) look_for_lone(i);
    if (decided_ || !sides_[0]->ended || !sides_[1]->ended) return;
    if (!sides_[0]->complete) return lost(0);
    if (!sides_[1]->complete) return lost(1);
    decide(Kind::Same);
  }

  void go_on(const LaunchName& launch) {
    ++outcome_.launches;
    if (options_.compared) options_.compared(outcome_.launches);
    for (StepProcess* side : sides_) (void)side->tell(StepKind::Go, {launch, 0});
  }

  // The calls of a thread come in their order: the other side has left out what it passed over.
  void look_for_lone(size_t i) {
    const StepProcess& other = *sides_[1 - i];
    for (const auto& [name, report] : sides_[i]->launches) {
      const auto next = other.launches.lower_bound(name);
      const bool passed = next != other.launches.end() && next->first.thread == name.thread;
      if (!passed && !other.complete) continue;
      outcome_.launch = report;
      return decide(Kind::OnlyOne, i);
    }
    if (other.ended && !other.complete) lost(1 - i);
  }

  void lost(size_t i) {
    StepProcess& side = *sides_[i];
    outcome_.exit_status = side.wait();
    outcome_.failure = side.failure;
    decide(outcome_.failure.ok() ? Kind::Crashed : Kind::Failed, i);
  }

  void compare(const LaunchReport& a, const LaunchReport& b) {
    for (const OutputReport& x : a.outputs) {
      const auto y = std::find_if(b.outputs.begin(), b.outputs.end(),
                                  [&](const OutputReport& o) { return o.argument == x.argument; });
      if (y == b.outputs.end()) continue;
      const bool same = x.size == y->size && x.hash == y->hash;
      if (!same && differs(a, x, y->type)) return;
      if (decided_) return;
      outcome_.bytes += x.size;
    }
  }

  bool differs(const LaunchReport& launch, const OutputReport& output, ElementType other_type) {
    std::array<Bytes, 2> bytes;
    for (size_t i = 0; i < sides_.size(); ++i) {
      if (!sides_[i]->fetch({launch.launch, output.argument}, bytes[i])) return lost(i), false;
    }
    const ElementType type = output.type == ElementType::Byte ? other_type : output.type;
    const std::optional<Difference> d = gt::tracer::compare(bytes[0], bytes[1], type, options_.tolerance);
    if (!d) return false;
    outcome_.launch = launch;
    outcome_.output = output;
    outcome_.output.type = type;
    outcome_.difference = *d;
    decide(Kind::Differs);
    return true;
  }

  void listen() {
    std::array<pollfd, 2> sockets{};
    for (size_t i = 0; i < sides_.size(); ++i)
      sockets[i] = {sides_[i]->ended ? -1 : sides_[i]->descriptor(), POLLIN, 0};
    // Each waits for an answer that only the other one's next launch could bring.
    const bool stuck = !sides_[0]->launches.empty() && !sides_[1]->launches.empty();
    constexpr int Long = 60'000;
    const int ready = ::poll(sockets.data(), sockets.size(), stuck ? Long : -1);
    if (ready == 0) {
      outcome_.failure = Status(gt::Kind::Unsupported, "the threads of the two replays launch in different orders");
      outcome_.exit_status = ExitEnvironment;
      return decide(Kind::Failed, 1);
    }
    for (size_t i = 0; i < sides_.size() && ready > 0; ++i) {
      if (sockets[i].revents != 0) (void)sides_[i]->listen();
    }
  }

  std::array<StepProcess*, 2> sides_;
  const AgainstOptions& options_;
  AgainstOutcome outcome_;
  bool decided_ = false;
};

uint64_t launches_of(const model::Trace& trace, uint32_t process) {
  std::vector<int> values;
  for (const model::Shape& s : trace.shapes) values.push_back(s.values());
  uint64_t launches = 0;
  for (const model::Stream& s : trace.streams) {
    model::ShapeCounts counts;
    const bool others = s.memory || trace.threads[s.thread].process != process;
    if (others || !model::count_shapes(s.nodes, values, counts)) continue;
    for (const auto& [shape, n] : counts) launches += api::attributes(trace.shapes[shape].fn).launch ? n : 0;
  }
  return launches;
}

AgainstOutcome compare_with_progress(const OpenedTrace& opened, const AgainstOptions& options) {
  constexpr const char* What = "launches in step";
  Progress progress(What, launches_of(opened.trace, options.run.process));
  AgainstOptions told = options;
  told.compared = [&progress](uint64_t launches) { progress.show(What, launches); };
  return compare_in_step(opened, told);
}

AgainstOutcome not_started(const Status& s) {
  AgainstOutcome outcome;
  outcome.kind = AgainstOutcome::Kind::Failed;
  outcome.failure = s;
  outcome.exit_status = exit_status(s);
  return outcome;
}

}  // namespace

AgainstOutcome compare_in_step(const OpenedTrace& opened, const AgainstOptions& options) {
  Result<StepProcess> a = StepProcess::start(opened, options, 0);
  if (!a) return not_started(a.status());
  Result<StepProcess> b = StepProcess::start(opened, options, 1);
  if (!b) return not_started(b.status());
  return InStep(*a, *b, options).run();
}

int replay_against(const OpenedTrace& opened, const AgainstOptions& options, bool json) {
  constexpr int ExitDiffers = 1;
  const AgainstOutcome outcome = compare_with_progress(opened, options);
  if (outcome.kind == AgainstOutcome::Kind::Failed || outcome.kind == AgainstOutcome::Kind::Crashed) {
    const std::string where = fmt::format("{}: on {}", opened.path, options.devices[outcome.side]);
    if (outcome.failure.ok())
      std::fprintf(stderr, "gtrace: %s, after %llu launches\n", where.c_str(),
                   static_cast<unsigned long long>(outcome.launches));
    else
      (void)fail("gtrace", outcome.failure.at(where));
    return outcome.exit_status;
  }
  if (const Status s = print_text(against_report(opened, outcome, json)); !s.ok()) return fail("gtrace", s);
  return outcome.kind == AgainstOutcome::Kind::Same ? ExitOk : ExitDiffers;
}

}  // namespace gt::tracer
