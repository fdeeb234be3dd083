// Folding: the Folder. The algorithm lives in parser.h and its sources; this is how it works.
//
// A stack holds what has been seen: calls, and loops with all that they did. A *rule* is the body
// of a loop seen at some time (grammar.h). Three things happen to an event:
//   Expected   The open loops (frames) predict what comes: the next call of the body, an inner
//   loop, one more
//              iteration, or, an inner loop being over, what follows it. Inner loops may run any
//              number of times, none included, so trip counts never matter. A complete iteration
//              stays on the stack until the next event shows that it is over (its last item may be
//              a loop that still runs), then its values join the loop's builders (value_builder.h)
//              and its entries leave the stack.
//   Begun      Nothing is open, but a rule is known that begins with this shape: the frame opens as
//   a guess. A guess
//              that fails costs nothing, since its entries are on the stack as if it had never been
//              made.
//   Unknown    The event goes on the stack alone. Then, and whenever loops have closed, the top of
//   the stack is
//              compared with what lies below: it may be one more iteration of the loop under it, or
//              repeat the block before it, which makes a new rule. Blocks are compared by
//              differences of prefix hashes; where the earlier block may end is given by a chain
//              through equal symbols.
// So the first iterations of a loop teach its rule, and later ones, also in other places, are
// parsed by it. Different first iterations (an inner loop that ran once) may stay as single calls
// before the loop: a constant prefix.
//
// Example: B A A B A A A B A B ...
//   B, A on the stack; A repeats A: rule 1 = (A), the stack is  B 1        and the frame of rule 1
//   is open B closes it                                                 B 1 B A begins rule 1, more
//   A join it; B closes it: B 1 repeats:  2          with rule 2 = (B 1), run twice B A is an
//   iteration of 2 with one A; B of the next one closes it: 2 has run three times, trip counts 2,
//   3, 1.
//
// Branches: iterations of one loop that differ teach rules that begin alike, none of which parses
// the loop. When what lies between two loops of one rule has begun as its body does a few times,
// the bodies are merged (merge.cc): what only some have becomes an inner loop, since those may run
// no times. The merged rule is the first choice from then on; what lies on the stack already stays
// as it is.
//
// A stream that costs more than it is worth, because what it calls next is anybody's guess, is not parsed for a while
// (Credit): its events go straight into runs, and later another attempt is made.
//
// What lies deeper than Window entries below the top cannot fold any more. It is frozen: loops that
// stand for many events become nodes, everything else joins Run nodes of at most
// RunBuilder::MaxEvents events. Memory: rules are bounded (Grammar::MaxSymbols); above it
// everything is frozen and all rules are forgotten.
#include "traces/model/fold/fold.h"

#include "traces/model/fold/parser.h"
#include "traces/model/fold/run.h"

namespace gt::model {
namespace {

constexpr size_t Window = 4096;          // entries kept when freezing
constexpr size_t FreezeAt = 2 * Window;  // entries that make us freeze
constexpr uint64_t SmallLoop = 256;      // events; a loop of fewer is cheaper as part of a run

// Bytes of a node in a file, about: its row, its series or run.
size_t stored_bytes_of(const Node& node) {
  constexpr size_t Row = 40;
  size_t n = Row + node.run.size();
  ByteWriter series;
  encode(series, node.count);
  for (const Series& s : node.values) encode(series, s);
  for (const Node& b : node.body) n += stored_bytes_of(b);
  return n + series.size();
}

void summarise_columns(Node& node) {
  for (Series& s : node.values) s = without_columns(std::move(s));
  for (Node& b : node.body) summarise_columns(b);
}

// The frozen beginning of a stream. Invariant: bytes is the sum of stored_bytes_of(nodes).
struct Frozen {
  ShapeCounts summary;  // what --max-size left out: always the oldest calls
  std::vector<Node> nodes;
  size_t bytes = 0;
  RunBuilder run;

  void call(ShapeId shape, std::span<const int64_t> values) {
    run.append(shape, values);
    if (run.full()) close_run();
  }
  void loop(Node node, std::span<const int> widths) {
    std::vector<Node> one;
    one.push_back(std::move(node));
    if (event_count(one) > SmallLoop) {
      close_run();
      add(std::move(one[0]));
      return;
    }
    (void)expand(one, widths, [this](ShapeId shape, std::span<const int64_t> values) {
      call(shape, values);
      return true;
    });
  }
  void close_run() {
    if (run.empty()) return;
    add(run.node());
    run.clear();
  }
  void add(Node node) {
    bytes += stored_bytes_of(node);
    nodes.push_back(std::move(node));
  }

  void summarise_values() {
    bytes = 0;
    for (Node& node : nodes) {
      summarise_columns(node);
      bytes += stored_bytes_of(node);
    }
  }
  // Gives what was saved.
  size_t summarise_oldest(size_t wanted, std::span<const int> widths) {
    size_t n = 0, saved = 0;
    for (; n < nodes.size() && saved < wanted; ++n) saved += stored_bytes_of(nodes[n]);
    (void)count_shapes(std::span(nodes).first(n), widths, summary);
    nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(n));
    bytes -= saved;
    return saved;
  }
};

// Whether the stream is worth parsing: each event earns some steps of parsing, and what was not needed is saved, up to
// a limit. A regular program's events take less than one, those of a loop with a dozen branches some ten. Where all is
// used up, events go unparsed for a while: each time for longer.
class Credit {
 public:
  bool spent(uint64_t effort) const { return effort > limit_; }
  // EarnEvery events have come.
  void earn(uint64_t effort) { limit_ = std::min(limit_ + EarnEvery * Steps, effort + MostSaved); }
  // How many events are not to be parsed now.
  uint64_t pause() {
    const uint64_t events = pause_;
    pause_ = std::min(pause_ * 2, LongestPause);
    return events;
  }
  void begin_again(uint64_t effort) { limit_ = effort + MostSaved / 4; }

  static constexpr uint64_t EarnEvery = 1024;

 private:
  static constexpr uint64_t Steps = 32, MostSaved = Steps << 14, LongestPause = 4 << 20;
  uint64_t limit_ = MostSaved, pause_ = 64 << 10;
};

}  // namespace

struct Folder::State {
  Frozen frozen;
  Parser parser;
  Credit credit;
  uint64_t events = 0, unparsed = 0;  // unparsed: how many of those that come are not to be parsed

  void freeze(size_t n) {
    const std::vector<int> widths = parser.widths();
    parser.take_bottom(
        n, [&](ShapeId shape, std::span<const int64_t> values) { frozen.call(shape, values); },
        [&](Node node) { frozen.loop(std::move(node), widths); });
  }

  // The whole stream so far; what comes is parsed by the rules that it taught.
  void freeze_all() {
    parser.finish();
    freeze(parser.entries());
    frozen.close_run();
  }

  // The stream is not worth parsing now.
  void stop_parsing() {
    parser.finish();
    freeze(parser.entries());
    parser.forget_rules();
    unparsed = credit.pause();
  }

  void push_unparsed(ShapeId shape, std::span<const int64_t> values) {
    parser.see_width(shape, values.size());
    frozen.call(shape, values);
    if (--unparsed == 0) credit.begin_again(parser.effort());
  }

  void make_room() {
    credit.earn(parser.effort());
    if (parser.rules_full()) {
      parser.finish();
      freeze(parser.entries());
      parser.forget_rules();
    } else if (parser.entries() > FreezeAt) {
      freeze(std::min(parser.entries() - Window, parser.closed_entries()));
    }
  }
};

Folder::Folder() : state_(std::make_unique<State>()) {}
Folder::~Folder() = default;
Folder::Folder(Folder&&) noexcept = default;
Folder& Folder::operator=(Folder&&) noexcept = default;

void Folder::push(ShapeId shape, std::span<const int64_t> values) {
  State& s = *state_;
  ++s.events;
  if (__builtin_expect(s.unparsed > 0, 0)) return s.push_unparsed(shape, values);
  s.parser.push(shape, values);
  if (s.events % Credit::EarnEvery == 0) s.make_room();
  if (__builtin_expect(s.credit.spent(s.parser.effort()), 0)) s.stop_parsing();
}

void Folder::push_again(std::span<const PushedEvent> events, uint64_t times) {
  if (events.empty()) return;
  State& s = *state_;
  if (s.unparsed == 0 && s.parser.repeat(events, times)) {
    s.events += times * events.size();
    return;
  }
  for (; times > 0; --times) {
    for (const PushedEvent& e : events) push(e.shape, e.values);
  }
}

std::vector<Node> Folder::snapshot() const {
  std::vector<Node> nodes;
  if (!state_->frozen.summary.empty()) nodes.push_back(make_summary(state_->frozen.summary));
  nodes.insert(nodes.end(), state_->frozen.nodes.begin(), state_->frozen.nodes.end());
  if (!state_->frozen.run.empty()) nodes.push_back(state_->frozen.run.node());
  Parser parser = state_->parser;
  parser.finish();
  parser.take_bottom(
      parser.entries(),
      [&](ShapeId shape, std::span<const int64_t> values) {
        Node& n = nodes.emplace_back();
        n.shape = shape;
        for (const int64_t v : values) n.values.emplace_back(v);
      },
      [&](Node node) { nodes.push_back(std::move(node)); });
  splice_single_loops(nodes);
  return nodes;
}

uint64_t Folder::events() const { return state_->events; }

size_t Folder::memory_bytes() const {
  size_t n = sizeof *state_ + state_->parser.memory_bytes() + state_->frozen.run.memory_bytes();
  return n + state_->frozen.nodes.size() * sizeof(Node) + state_->frozen.bytes;
}

size_t Folder::stored_bytes() const {
  const Frozen& frozen = state_->frozen;
  return frozen.bytes + frozen.run.memory_bytes() / 4 + state_->parser.stored_bytes();
}

void Folder::summarise_values() {
  state_->frozen.summarise_values();
  state_->parser.summarise_columns();
}

void Folder::summarise_oldest(size_t bytes) {
  const std::vector<int> widths = state_->parser.widths();
  const size_t saved = state_->frozen.summarise_oldest(bytes, widths);
  if (saved >= bytes) return;
  state_->freeze_all();
  state_->frozen.summarise_oldest(bytes - saved, widths);
}

}  // namespace gt::model
