// Parser: the stack on which a stream is folded. fold.cc explains the algorithm.
//
// The stack holds entries: single calls and loops that have run. Frames say which loops are open,
// outermost first: the entries from frame.base on are the beginning of one more iteration of
// frame.rule, entry base + i being item i of its body. With frame.has_loop, entry base - 1 is the
// loop that this iteration will join. Invariants: frame i+1 parses item pos of frame i, and its
// loop (or base, when it has none yet) is entry
//   frame[i].base + frame[i].pos; pos >= 1 in the innermost frame between two pushes; pos == body
//   size is a complete iteration, which joins the loop only when the next event has come.
// Thread safety: none. A copy is independent.
#pragma once

#include <array>
#include <span>
#include <unordered_set>
#include <utility>

#include "traces/model/fold/loop_data.h"
#include "traces/model/fold/run.h"

namespace gt::model {

class Parser {
 public:
  Parser() = default;
  Parser(const Parser& other);
  Parser& operator=(const Parser&) = delete;
  Parser(Parser&&) = default;
  Parser& operator=(Parser&&) = default;

  // Cost: a few nanoseconds when the innermost open loop expects this shape.
  void push(ShapeId shape, std::span<const int64_t> values) {
    previous_ = shape_;
    shape_ = shape;
    row_ = values;
    const Symbol symbol = shape_symbol(shape);
    if (!frames_.empty()) {
      Frame& f = frames_.back();
      const std::vector<Symbol>& body = f.rule->body;
      if (f.pos < body.size() && body[f.pos] == symbol) {
        add_call();
        ++f.pos;
        return;
      }
      if (f.pos == body.size() && body[0] == symbol) {
        if (body.size() == 1 && f.has_loop) return repeat_call(f);
        join(f);
        add_call();
        f.pos = 1;
        return;
      }
    }
    push_unexpected(symbol);
  }

  // How many values a shape has, of an event that is not pushed.
  void see_width(ShapeId shape, size_t values) {
    if (shape >= widths_.size()) widths_.resize(shape + 1, 0);
    widths_[shape] = static_cast<int>(values);
    grammar_.set_width(shape, values);
  }

  // The events that were pushed last, in this order, come so many times more. False: they are no iterations of the
  // innermost loop, all alike; nothing was done.
  bool repeat(std::span<const PushedEvent> events, uint64_t times);

  // The stream has ended: closes what is open.
  void finish();

  size_t entries() const { return entries_.size(); }
  // How many entries from the bottom no open frame needs.
  size_t closed_entries() const;
  bool rules_full() const { return grammar_.full(); }
  void forget_rules();  // REQUIRES: no entries

  // Gives the lowest `n` entries, in order, and takes them off the stack. REQUIRES: n <=
  // closed_entries().
  template <class Call, class LoopNode>
  void take_bottom(size_t n, const Call& call, const LoopNode& loop) {
    for (size_t i = 0; i < n; ++i) {
      const Entry& e = entries_[i];
      if (e.loop) {
        effort_ += NodeSteps * e.loop->rule->total;
        loop(make_node(*e.loop, grammar_));
      } else {
        call(shape_of(e.symbol), values_of(e));
      }
    }
    drop_bottom(n);
  }

  // What parsing has cost so far, in steps of some nanoseconds: what the calls cost that nothing expected. The same
  // events give the same number.
  uint64_t effort() const { return effort_; }

  // Widths of all shapes so far, for expand().
  std::vector<int> widths() const { return widths_; }
  size_t memory_bytes() const;
  // See Folder.
  size_t stored_bytes() const;
  void summarise_columns();

 private:
  static constexpr size_t MaxBlock = 2048;  // entries in the body of a new loop
  static constexpr size_t MaxBranch = 64;   // symbols of an iteration that takes another branch
  static constexpr int MaxTries = 32;       // earlier ends of a block looked at
  static constexpr size_t MaxReplay = 16;   // calls parsed again after a failed guess
  static constexpr int MaxReplayDepth = 2;
  static constexpr size_t FirstFlow = 64;  // calls that nothing expected, until what followed what is looked at
  static constexpr int MaxLoopsBelow = 4;  // loops looked at that the top could continue
  // Steps for each symbol of a loop: to make nodes of it, to make it, to take it as another one's iteration.
  static constexpr size_t NodeSteps = 32, LoopSteps = 8, AbsorbSteps = 2;
  static constexpr ShapeId NoShape = static_cast<ShapeId>(-1);
  static constexpr size_t Nothing = static_cast<size_t>(-1), End = static_cast<size_t>(-2);

  struct Entry {
    Symbol symbol = 0;
    uint64_t values_at = 0;      // calls: where its values begin; loops: where they would
    std::unique_ptr<Loop> loop;  // of a rule symbol. In iterations under way it may be nullptr: it ran no times...
    bool once = false;           // ...or this: once, it has no loops inside, and its values lie on the stack
    // Filled by link_all(), for entries below linked_:
    uint64_t hash = 0;  // of all entries up to this one
    int64_t previous =
        -1;  // entry with the same symbol before this one, counted from the stream's first
    int64_t loop_below = -1;  // nearest loop at or below this one
    Entry() = default;
    Entry(const Entry& o);
    Entry(Entry&&) noexcept = default;
    Entry& operator=(Entry&&) noexcept = default;
  };
  struct Frame {
    const Rule* rule;
    size_t base;
    size_t pos;
    bool has_loop;
  };

  // parse.cc
  void push_unexpected(Symbol symbol);
  bool accept(Symbol symbol);
  bool guess(Symbol symbol);
  void abandon(size_t from);
  bool replay();
  bool resume(size_t frame, Symbol symbol);
  bool resume_outside(Frame& outer, const Frame& failed, Symbol symbol);
  bool resume_as_other_rule(const Frame& failed, Symbol symbol);
  size_t find(const Rule& rule, size_t from, Symbol symbol) const;
  bool spells(size_t from_entry, const Rule& rule, size_t from_item) const;
  void close_inner(size_t frame);
  void close_loop(Frame& f);
  void skip_to(Frame& f, size_t pos);
  void enter(Symbol symbol);

  // stack.cc
  void add_call();
  void add_loop(std::unique_ptr<Loop> loop);
  void add_empty_loop(RuleId rule);
  void insert_empty_loop(size_t at, RuleId rule);
  std::unique_ptr<Loop> new_loop(const Rule& rule);
  void recycle(std::unique_ptr<Loop> loop);
  void join(Frame& f);
  void repeat_call(const Frame& f);
  void give_object(size_t entry);
  void take_iteration(Loop& loop, size_t from, size_t entries);
  void pop_to(size_t entries);
  void unlink_to(size_t entries);
  void link_all();
  void drop_bottom(size_t n);
  std::span<const int64_t> values_of(const Entry& e) const;

  // reduce.cc
  bool reduce();
  bool continue_loop_below();
  bool make_loop();
  void learn_branch(const Frame& f);
  uint64_t hash_of(size_t from, size_t to) const;  // entries [from, to)
  bool same_block(size_t first, size_t second, size_t n) const;
  void fold_blocks(const Rule& rule, size_t first);

  // learn_flow.cc
  void note_follow();
  void learn_flow();

  Grammar grammar_;
  std::vector<int> widths_;
  std::vector<Entry> entries_;
  std::vector<int64_t> values_;
  std::vector<Frame> frames_;
  std::vector<std::vector<std::unique_ptr<Loop>>> spare_;  // by rule
  std::unordered_map<Symbol, int64_t> last_;               // latest linked entry with a symbol
  size_t linked_ = 0;                                      // entries below are linked
  int64_t dropped_ = 0;                                    // entries taken off the bottom so far
  uint64_t hash_below_ = 0;                                // of all that were dropped
  ShapeId shape_ = NoShape, previous_ = NoShape;           // of the event being pushed, and of the one before
  std::span<const int64_t> row_;
  size_t failed_from_ = Nothing;  // accept() gave up the iteration that began at this entry
  int replaying_ = 0;
  uint64_t effort_ = 0;
  size_t unknown_ = 0, learn_flow_at_ = FirstFlow;  // calls that nothing expected
  // Which shape came right after which, as far as the open loops did not expect it. A copy has none.
  std::vector<std::pair<ShapeId, ShapeId>> follows_;  // in the order of their first appearance
  std::unordered_set<uint64_t> known_follows_;        // the same
  std::array<uint64_t, 64> recent_follows_{};         // some of them, plus one
  bool left_open_ = false;  // accept() left a complete iteration on the stack
};

}  // namespace gt::model
