// Random structured programs, as the streams of (shape, values) that their calls would make.
//
// A seed is a program: nested loops of every kind, branches, work that is done first or every k-th time, polling,
// convergence, recursion, and objects that are made and released in and across iterations, named by the lowest free
// slot as the collector does. run(n) runs its main loop n times; what is random in it is the same for the same seed.
// A *regular* program does the same in every iteration but for trip counts that are constant, those of polling and of
// convergence loops (random), and work that only the first iteration does or leaves out. One with *conditions* has
// also work of every k-th or the last iteration, choices (random, or by turns), and loops that may run no times. In
// both each place in the code is a shape of its own, as call sites are; their digest must not depend on n. In the
// other programs, *any*, places share shapes and iterations grow.
//
// observed() says what of the program the last run has shown, independently of all that folds: which way each branch
// was taken (a loop: not at all, once, more often) and whether another iteration of the loops around followed; which
// values have varied, and what the others were. A run of another length that shows the same must have the same digest.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::testing {

struct Event {
  model::ShapeId shape;
  std::vector<int64_t> values;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

// What a run has shown of its program.
struct Observed {
  struct Outcome {
    model::ShapeId statement;
    int64_t taken;
    uint64_t last;  // bit i: in the last iteration of the i-th loop around it
    auto operator<=>(const Outcome&) const = default;
  };
  std::set<Outcome> outcomes;
  using Value = std::pair<model::ShapeId, size_t>;  // index
  std::set<Value> varying;
  std::map<Value, int64_t> constants;

  bool same_structure(const Observed& o) const { return outcomes == o.outcomes && varying == o.varying; }
};

class RandomStream {
 public:
  enum Class { Any, Regular, Conditions };
  static constexpr model::ShapeId Shapes = 4000;

  RandomStream(uint64_t seed, Class cls, size_t most_events = 4000)
      : random_(seed), class_(cls), most_(most_events) {
    body_ = block(0);
    body_.insert(body_.begin(), statement(Call, 0));  // an iteration is never empty
    seed_of_run_ = random_();
  }

  Events run(int64_t n) {
    random_.seed(seed_of_run_);
    events_.clear();
    taken_.clear();
    lowest_free_ = 0;
    kept_.clear();
    carried_.clear();
    counters_.clear();
    observed_ = {};
    varying_.assign(Shapes + 2, 0);
    call(0);
    iterate(n, body_);
    call(1);
    return std::move(events_);
  }
  const Observed& observed() const { return observed_; }

 private:
  enum Kind { Call, Loop, PingPong, MakeAndRelease, Recurse, Carry, First, Converge, Poll, RegularKinds,
              LoopOuter = RegularKinds, LoopRandom, EveryKth, InTurn, Either, OneOfThree, Sometimes, Last, Grow,
              Kinds };
  struct Statement {
    Kind kind = Call;
    model::ShapeId shape = 0;
    int64_t number = 0;
    std::vector<std::vector<Statement>> parts;
  };

  int64_t draw(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }

  Statement statement(Kind kind, int depth) {
    Statement s;
    s.kind = kind;
    s.shape = class_ != Any ? next_shape_ += 2 : static_cast<model::ShapeId>(2 + draw(36));
    s.number = 1 + draw(6);
    const bool single = kind == Call || kind == Grow || kind == Poll;
    const int parts = kind == Either || kind == InTurn ? 2 : kind == OneOfThree ? 3 : single ? 0 : 1;
    for (int i = 0; i < parts; ++i) s.parts.push_back(block(depth + 1));
    return s;
  }
  std::vector<Statement> block(int depth) {
    std::vector<Statement> out{statement(Call, depth)};
    const int64_t kinds = class_ == Regular ? RegularKinds : Kinds;
    for (int64_t n = draw(4); n > 0; --n)
      out.push_back(statement(depth < 3 ? static_cast<Kind>(draw(kinds)) : Call, depth));
    return out;
  }

  void execute(const std::vector<Statement>& body) {
    for (const Statement& s : body) execute(s);
  }
  void execute(const Statement& s) {
    if (class_ == Any && events_.size() > most_) return;
    switch (s.kind) {
      case Call: return call(s.shape);
      case Loop: return iterate(s.number, s.parts[0]);
      case PingPong: call(s.shape, outer() % 2); return execute(s.parts[0]);
      case MakeAndRelease: return make_and_release(s);
      case Recurse: return recurse(s);
      case Carry: return carry(s);
      case LoopOuter: return iterate(note(s, 1 + outer() % 2), s.parts[0]);
      case LoopRandom: return iterate(note(s, draw(s.number + 1)), s.parts[0]);
      case Either: return execute(s.parts[static_cast<size_t>(note(s, draw(2)))]);
      case OneOfThree: return execute(s.parts[static_cast<size_t>(note(s, draw(3)))]);
      case Sometimes: return execute_if(s, draw(5) == 0);
      case EveryKth: return execute_if(s, outer() % (s.number * 5) == 1);
      case First: return execute_if(s, outer() == 0);
      case Last: return execute_if(s, last_ & 1);
      case Poll: return poll(s, draw(20) + 1);
      case Converge: return iterate(note(s, steps_to_converge()), s.parts[0]);
      case Grow: kept_.push_back(take()); return call(s.shape, kept_.back());
      case InTurn: return execute(s.parts[static_cast<size_t>(note(s, outer() % (1 + s.number) == 0))]);
      case Kinds: return;
    }
  }
  // A branch was taken, or a loop runs so often: gives it back.
  int64_t note(const Statement& s, int64_t taken) {
    const bool choice = s.kind == OneOfThree;
    observed_.outcomes.insert({s.shape, choice ? taken : std::min<int64_t>(taken, 2), last_});
    return taken;
  }
  void execute_if(const Statement& s, bool condition) {
    if (note(s, condition)) execute(s.parts[0]);
  }
  void poll(const Statement& s, int64_t times) {
    note(s, times);
    for (; times > 0; --times) call(s.shape);
  }
  int64_t steps_to_converge() {
    int64_t steps = 0;
    for (double error = 1 + double(draw(1000)); error > 0.5; error /= 3) ++steps;
    return steps;
  }
  void iterate(int64_t n, const std::vector<Statement>& body) {
    counters_.push_back(0);
    const uint64_t around = last_;
    for (int64_t i = 0; i < n; ++i) {
      counters_.back() = i;
      last_ = around << 1 | (i + 1 == n);
      execute(body);
    }
    last_ = around;
    counters_.pop_back();
  }
  // Enters each depth, then does something at each on the way back.
  void recurse(const Statement& s) {
    const int64_t depths = 1 + s.number % 4;
    for (int64_t i = 0; i < depths; ++i) call(s.shape);
    const uint64_t around = last_;
    for (int64_t i = 0; i < depths; ++i) {
      last_ = around << 1 | (i + 1 == depths);
      execute(s.parts[0]);
    }
    last_ = around;
  }
  void make_and_release(const Statement& s) {
    const int64_t slot = take();
    call(s.shape, slot);
    execute(s.parts[0]);
    call(s.shape + 1, slot);
    give_back(slot);
  }
  // Releases what the iteration before made.
  void carry(const Statement& s) {
    const int64_t slot = take();
    call(s.shape, slot);
    execute(s.parts[0]);
    int64_t& old = carried_.try_emplace(s.shape, -1).first->second;
    if (note(s, outer() > 0 && old >= 0)) {
      call(s.shape + 1, old);
      give_back(old);
    }
    old = slot;
  }
  int64_t take() {
    while (lowest_free_ < taken_.size() && taken_[lowest_free_]) ++lowest_free_;
    taken_.resize(std::max(taken_.size(), lowest_free_ + 1));
    taken_[lowest_free_] = true;
    return static_cast<int64_t>(lowest_free_++);
  }
  void give_back(int64_t slot) {
    taken_[static_cast<size_t>(slot)] = false;
    lowest_free_ = std::min(lowest_free_, static_cast<size_t>(slot));
  }
  int64_t outer() const { return counters_.empty() ? 0 : counters_.back(); }

  void call(model::ShapeId shape, int64_t first = 0) {
    Event e{shape, {first}};
    const int64_t j = counters_.size() < 2 ? 0 : counters_[counters_.size() - 2];
    for (model::ShapeId v = 1; v < 1 + shape % 4; ++v) {
      switch (class_ != Any ? (shape + v) % 3 : (shape + v) % 6) {
        case 0: e.values.push_back(7); break;
        case 1: e.values.push_back(outer() * 3 + j * 100); break;
        case 2: e.values.push_back(shape * 64); break;
        case 3: e.values.push_back(static_cast<int64_t>(random_())); break;
        case 4: e.values.push_back(draw(40) == 0); break;
        default: e.values.push_back(static_cast<int64_t>(events_.size())); break;
      }
    }
    note_values(e);
    events_.push_back(std::move(e));
  }

  void note_values(const Event& e) {
    for (size_t v = 0; v < e.values.size(); ++v) {
      if (varying_[e.shape] >> v & 1) continue;
      const auto at = observed_.constants.try_emplace({e.shape, v}, e.values[v]).first;
      if (at->second == e.values[v]) continue;
      observed_.constants.erase(at);
      observed_.varying.insert({e.shape, v});
      varying_[e.shape] |= 1u << v;
    }
  }

  std::mt19937_64 random_;
  Class class_;
  size_t most_;
  model::ShapeId next_shape_ = 2;
  uint64_t seed_of_run_ = 0;
  std::vector<Statement> body_;
  std::vector<int64_t> counters_;
  uint64_t last_ = 0;  // see Observed
  Observed observed_;
  std::vector<unsigned> varying_;  // by shape, a bit for each value
  std::vector<bool> taken_;
  size_t lowest_free_ = 0;  // all below it are taken
  std::vector<int64_t> kept_;
  std::map<model::ShapeId, int64_t> carried_;
  Events events_;
};

}  // namespace gt::testing
