#include "tracer/gtrace/replay/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/replay/call_reducer.h"
#include "tracer/gtrace/replay/reduced_trace.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"

namespace gt::tracer {

using Clock = std::chrono::steady_clock;

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void interrupt(int) { g_interrupted = 1; }

// While it lives, Ctrl-C ends the search and not us.
class Interruptible {
 public:
  Interruptible() {
    struct sigaction action {};
    action.sa_handler = interrupt;
    ::sigaction(SIGINT, &action, &old_interrupt_);
    ::sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~Interruptible() {
    ::sigaction(SIGINT, &old_interrupt_, nullptr);
    ::sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  struct sigaction old_interrupt_ {}, old_terminate_ {};
};

const char* word(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::Differs: return "difference";
    case Verdict::Kind::Crashed: return "crash";
    case Verdict::Kind::Failed: return "failure";
    default: return "nothing";
  }
}

class Reduce {
 public:
  Reduce(const OpenedTrace& opened, const ReduceOptions& options)
      : opened_(opened), options_(options), trial_(opened, options.trial, g_interrupted), began_(Clock::now()) {}

  int run() {
    if (const Status s = look(); !s.ok()) return fail("gtrace", s.at(opened_.path));
    const Result<CallGraph> graph = CallGraph::build(opened_.trace, process());
    if (!graph) return fail("gtrace", graph.status().at(opened_.path));
    return write(*graph, search(*graph));
  }

 private:
  CallSet search(const CallGraph& graph) {
    best_ = graph.size();
    const auto left = [&] { return fmt::format("{} of {} calls left", best_, graph.size()); };
    Progress progress(left(), options_.tries);
    const auto holds = [&](const CallSet& set) {
      ++tries_;
      const bool shown = same(trial_.run(&graph, &set), first_);
      if (shown) best_ = count_of(set);
      progress.show(left(), tries_);
      return shown;
    };
    CallReducer reducer(graph, holds, [this] { return goes_on(); });
    const std::optional<CallIndex> place = graph.find(first_.thread, first_.number);
    // A crash shows where it likes: a later call than the one that did it may be the last one.
    reducer.reduce(first_.kind == Verdict::Kind::Crashed ? std::nullopt : place, place);
    return reducer.kept();
  }

  uint32_t process() const { return options_.trial.pair.run.process; }
  std::chrono::milliseconds passed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
  }
  bool goes_on() const {
    return !g_interrupted && tries_ < options_.tries && passed() < std::chrono::seconds(options_.seconds);
  }

  // Twice: what is not the same each time cannot be looked for.
  Status look() {
    first_ = trial_.run();
    const auto took = passed();
    if (first_.kind == Verdict::Kind::Same)
      return {Kind::Invalid, "nothing differs, fails or crashes: there is nothing to reduce it to"};
    if (first_.kind == Verdict::Kind::Unfinished)
      return {Kind::Unsupported, "it cannot be replayed: gtrace replay without --reduce says why"};
    const Verdict again = trial_.run();
    if (!same(first_, again))
      return {Kind::Unsupported, fmt::format("it is not the same twice ({}; {}): there is nothing to hold on to",
                                             first_.what, again.what)};
    constexpr auto Least = std::chrono::milliseconds(5000);
    trial_.allow(std::max(Least, took * 3));
    return {};
  }

  int write(const CallGraph& graph, const CallSet& kept) {
    const Result<ReducedFiles> files = write_reduced(opened_, process(), graph, kept, options_.output);
    if (!files) return fail("gtrace", files.status());
    const Result<bool> shows = check();
    if (!shows) return fail("gtrace", shows.status());
    const std::string text = options_.json ? as_json(graph, *files, *shows) : as_text(graph, *files, *shows);
    if (const Status s = print_text(text); !s.ok()) return fail("gtrace", s);
    return ExitOk;
  }

  // Does the smaller trace show the same by itself?
  Result<bool> check() {
    if (g_interrupted) return false;
    const Result<OpenedTrace> reduced = open_trace(options_.output);
    if (!reduced) return reduced.status();
    return same(ReplayTrial(*reduced, options_.trial, g_interrupted).run(), first_);
  }

  std::string why_it_ended() const {
    if (g_interrupted) return "interrupted";
    if (tries_ >= options_.tries) return fmt::format("stopped after --tries {}", options_.tries);
    if (!goes_on()) return fmt::format("stopped after --seconds {}", options_.seconds);
    return "no call can be left out";
  }

  std::string as_text(const CallGraph& graph, const ReducedFiles& files, bool shows) const {
    const auto ns = static_cast<uint64_t>(std::chrono::nanoseconds(passed()).count());
    std::string out = fmt::format("{}: {} of {} calls and {} of contents ({} tries, {}; {})\n", options_.output,
                                  files.calls, graph.size(), human_bytes(files.content_bytes), tries_, human_ns(ns),
                                  why_it_ended());
    out += fmt::format("the {} that stayed: {}\n", word(first_.kind), first_.what);
    if (!shows)
      out += g_interrupted ? "it was not replayed once more\n" : "replayed by itself, it does not show that\n";
    return out;
  }

  std::string as_json(const CallGraph& graph, const ReducedFiles& files, bool shows) const {
    const nlohmann::ordered_json j = {{"format", "gtrace-reduce"},
                                      {"version", 1},
                                      {"output", options_.output},
                                      {"calls", files.calls},
                                      {"of_calls", graph.size()},
                                      {"contents", {{"count", files.contents}, {"bytes", files.content_bytes}}},
                                      {"tries", tries_},
                                      {"wall_ms", passed().count()},
                                      {"ended", why_it_ended()},
                                      {"kind", word(first_.kind)},
                                      {"what", first_.what},
                                      {"shown_again", shows}};
    return j.dump(2) + "\n";
  }

  const OpenedTrace& opened_;
  const ReduceOptions& options_;
  ReplayTrial trial_;
  Clock::time_point began_;
  Verdict first_;
  uint64_t tries_ = 0;
  size_t best_ = 0;
};

}  // namespace

int reduce_trace(const OpenedTrace& opened, const ReduceOptions& options) {
  const Interruptible while_searching;
  return Reduce(opened, options).run();
}

}  // namespace gt::tracer
