// Random structured programs, as the streams of (shape, values) that their calls would make.
//
// A seed is a program: nested loops of every kind, branches, work that is done first or every k-th time, polling,
// convergence, recursion, and objects that are made and released in and across iterations, named by the lowest free
// slot as the collector does. run(n) runs its main loop n times; what is random in it is the same for the same seed.
// A *regular* program does the same in every iteration but for trip counts that are constant, those of polling and of
// convergence loops (random), and work that only the first iteration does or leaves out; and each place in its code is
// a shape of its own, as call sites are. Its structure must not depend on n.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "traces/model/event.h"

namespace gt::testing {

struct Event {
  model::ShapeId shape;
  std::vector<int64_t> values;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

class RandomStream {
 public:
  static constexpr model::ShapeId Shapes = 4000;

  RandomStream(uint64_t seed, bool regular, size_t most_events = 4000)
      : random_(seed), regular_(regular), most_(most_events) {
    body_ = block(0);
    body_.insert(body_.begin(), statement(Call, 0));  // an iteration is never empty
    seed_of_run_ = random_();
  }

  Events run(int64_t n) {
    random_.seed(seed_of_run_);
    events_.clear();
    taken_.clear();
    kept_.clear();
    carried_.clear();
    counters_.clear();
    call(0);
    iterate(n, body_);
    call(1);
    return std::move(events_);
  }

 private:
  enum Kind { Call, Loop, PingPong, MakeAndRelease, Recurse, Carry, First, Converge, Poll, RegularKinds,
              LoopOuter = RegularKinds, LoopRandom, EveryKth, InTurn, Either, OneOfThree, Sometimes, Grow, Kinds };
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
    s.shape = regular_ ? next_shape_ += 2 : static_cast<model::ShapeId>(2 + draw(36));
    s.number = 1 + draw(6);
    const bool single = kind == Call || kind == Grow || kind == Poll;
    const int parts = kind == Either || kind == InTurn ? 2 : kind == OneOfThree ? 3 : single ? 0 : 1;
    for (int i = 0; i < parts; ++i) s.parts.push_back(block(depth + 1));
    return s;
  }
  std::vector<Statement> block(int depth) {
    std::vector<Statement> out{statement(Call, depth)};
    for (int64_t n = draw(4); n > 0; --n)
      out.push_back(statement(depth < 3 ? static_cast<Kind>(draw(regular_ ? RegularKinds : Kinds)) : Call, depth));
    return out;
  }

  void execute(const std::vector<Statement>& body) {
    for (const Statement& s : body) execute(s);
  }
  void execute(const Statement& s) {
    if (!regular_ && events_.size() > most_) return;
    switch (s.kind) {
      case Call: return call(s.shape);
      case Loop: return iterate(s.number, s.parts[0]);
      case LoopOuter: return iterate(1 + (counters_.empty() ? 0 : counters_.back() % 2), s.parts[0]);
      case PingPong: call(s.shape, outer() % 2); return execute(s.parts[0]);
      case MakeAndRelease: return make_and_release(s);
      case Recurse: return recurse(s, s.number % 4);
      case Carry: return carry(s);
      case LoopRandom: return iterate(draw(s.number + 1), s.parts[0]);
      case Either: return execute(s.parts[static_cast<size_t>(draw(2))]);
      case OneOfThree: return execute(s.parts[static_cast<size_t>(draw(3))]);
      case Sometimes: return draw(5) == 0 ? execute(s.parts[0]) : void();
      case EveryKth: return outer() % (s.number * 5) == 1 ? execute(s.parts[0]) : void();
      case First: return outer() == 0 ? execute(s.parts[0]) : void();
      case Poll: for (int64_t i = draw(20); i >= 0; --i) call(s.shape); return;
      case Converge: for (double error = 1 + double(draw(1000)); error > 0.5; error /= 3) execute(s.parts[0]); return;
      case Grow: kept_.push_back(take()); return call(s.shape, kept_.back());
      case InTurn: return execute(s.parts[outer() % (1 + s.number) == 0]);
      case Kinds: return;
    }
  }
  void iterate(int64_t n, const std::vector<Statement>& body) {
    counters_.push_back(0);
    for (int64_t i = 0; i < n; ++i) {
      counters_.back() = i;
      execute(body);
    }
    counters_.pop_back();
  }
  // Enter, what is done at each depth, leave.
  void recurse(const Statement& s, int64_t depth) {
    call(s.shape);
    if (depth > 0) recurse(s, depth - 1);
    execute(s.parts[0]);
  }
  void make_and_release(const Statement& s) {
    const int64_t slot = take();
    call(s.shape, slot);
    execute(s.parts[0]);
    call(s.shape + 1, slot);
    taken_.erase(slot);
  }
  // Releases what the iteration before made.
  void carry(const Statement& s) {
    const int64_t slot = take();
    call(s.shape, slot);
    execute(s.parts[0]);
    int64_t& old = carried_.try_emplace(s.shape, -1).first->second;
    if (outer() > 0 && old >= 0) {
      call(s.shape + 1, old);
      taken_.erase(old);
    }
    old = slot;
  }
  int64_t take() {
    int64_t slot = 0;
    while (taken_.count(slot)) ++slot;
    taken_.insert(slot);
    return slot;
  }
  int64_t outer() const { return counters_.empty() ? 0 : counters_.back(); }

  void call(model::ShapeId shape, int64_t first = 0) {
    Event e{shape, {first}};
    const int64_t j = counters_.size() < 2 ? 0 : counters_[counters_.size() - 2];
    for (model::ShapeId v = 1; v < 1 + shape % 4; ++v) {
      switch (regular_ ? (shape + v) % 3 : (shape + v) % 6) {
        case 0: e.values.push_back(7); break;
        case 1: e.values.push_back(outer() * 3 + j * 100); break;
        case 2: e.values.push_back(shape * 64); break;
        case 3: e.values.push_back(static_cast<int64_t>(random_())); break;
        case 4: e.values.push_back(draw(40) == 0); break;
        default: e.values.push_back(static_cast<int64_t>(events_.size())); break;
      }
    }
    events_.push_back(std::move(e));
  }

  std::mt19937_64 random_;
  bool regular_;
  size_t most_;
  model::ShapeId next_shape_ = 2;
  uint64_t seed_of_run_ = 0;
  std::vector<Statement> body_;
  std::vector<int64_t> counters_;
  std::set<int64_t> taken_;
  std::vector<int64_t> kept_;
  std::map<model::ShapeId, int64_t> carried_;
  Events events_;
};

}  // namespace gt::testing
