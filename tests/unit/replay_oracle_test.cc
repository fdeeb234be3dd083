// Random programs: what follows from the few iterations that a replay shows must follow from all calls, too.
//
// The same calls are followed twice: folded, and as a flat list of calls, where every one is shown. A claim of the
// first that the second does not make would be a false finding.
#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "analyzer/rules/map_flow.h"
#include "analyzer/rules/send_flow.h"
#include "analyzer/rules/wait_flow.h"
#include "tests/unit/findings_check.h"

using namespace gt;
using namespace gt::testing;

namespace {

// How a number varies over a loop.
using Pattern = std::function<int64_t(int64_t i)>;

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    p_.at_place(0x2000);
    host_ = p_.allocate(MiB);
    for (int i = 0; i < 3; ++i) {
      p_.at_place(0x2100 + (i > 0));  // two of one class
      buffers_.push_back(p_.buffer(MiB));
    }
    p_.at_place(0x3000);
    kernel_ = p_.kernel();
  }

  Trace run() {
    for (int64_t i = 0, n = below(3) + 1; i < n; ++i) nest(0x4000 + static_cast<int>(i) * 0x100, 0);
    return p_.finish_trace();
  }

 private:
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

  Pattern pattern(int64_t scale) {
    switch (below(6)) {
      case 0:
        return [this](int64_t) { return below(3); };
      case 1:
        return [scale](int64_t i) { return i * scale; };
      case 2:
        return [](int64_t i) { return i % 2; };
      case 3:
        return [](int64_t i) { return i % 3; };
      default:
        return [c = below(2)](int64_t) { return c; };
    }
  }

  // A loop of some operations, and sometimes of another loop.
  void nest(int line, int depth) {
    const int64_t trips = depth == 0 ? 1 + below(60) : 1 + below(12);
    std::vector<std::function<void(int64_t)>> body;
    for (int64_t k = 0, n = 1 + below(5); k < n; ++k) body.push_back(operation(line + static_cast<int>(k)));
    const bool inner = depth == 0 && below(3) == 0;
    std::vector<std::function<void(int64_t)>> within;
    const int64_t turns = 1 + below(30);
    if (inner) within = {operation(line + 0x40), operation(line + 0x41)};
    for (int64_t i = 0; i < trips; ++i) {
      for (auto& op : body) op(i);
      for (int64_t j = 0; inner && j < turns; ++j)
        for (auto& op : within) op(j);
    }
  }

  std::function<void(int64_t)> operation(int line) {
    const int64_t kind = below(8);
    const Pattern which = pattern(1), offset = pattern(4), content = pattern(1);
    const bool captured = below(4) > 0, blocks = below(2) > 0;
    const Effect effect = std::vector<Effect>{Effect::None, Effect::Use, Effect::UseDef}[static_cast<size_t>(below(3))];
    return [=, this](int64_t i) {
      p_.at_place(line);
      const auto slot = static_cast<size_t>(which(i) % 3);
      const How how{.blocking = blocks, .offset = offset(i) % 16 * 64, .content = captured ? content(i) : -2};
      if (kind <= 2) p_.write(buffers_[slot], host_, 64 + 64 * (offset(i) % 3), how);
      if (kind == 3) p_.read(buffers_[slot], host_, 64, how);
      if (kind == 4) p_.launch(kernel_, {{buffers_[slot], effect}});
      if (kind == 5) p_.finish(1000);
      if (kind == 6) renew(slot);
      if (kind == 7)
        p_.unmap(buffers_[slot], p_.map(buffers_[slot], 64, 3, 1000, content(i)), 64, true, 1000, content(i) / 2);
    };
  }
  void renew(size_t slot) {
    p_.release(buffers_[slot]);
    p_.at_place(0x2100 + (slot > 0));
    buffers_[slot] = p_.buffer(MiB);
  }

  RuleTrace p_;
  std::mt19937 random_;
  Object host_, kernel_;
  std::vector<Object> buffers_;
};

// The same trace with every call as a node of its own.
Trace flat(const Trace& folded) {
  Trace out = folded;
  std::vector<int> widths;
  for (const Shape& s : folded.shapes) widths.push_back(s.values());
  for (Stream& stream : out.streams) {
    std::vector<Node> nodes;
    const auto append = [&](ShapeId shape, std::span<const int64_t> values) {
      std::vector<Series> row;
      for (const int64_t v : values) row.emplace_back(v);
      nodes.push_back(TraceBuilder::call(shape, std::move(row)));
      return true;
    };
    REQUIRE(expand(stream.nodes, widths, append));
    stream.nodes = std::move(nodes);
  }
  return out;
}

struct Facts {
  std::vector<analyzer::SendFacts> sends;
  std::vector<analyzer::WaitFacts> waits;
  std::vector<analyzer::MapFacts> maps;

  explicit Facts(const Trace& t) {
    const analyzer::Effects effects = recorded_effects(t);
    const analyzer::CallPlans plans(t, effects);
    sends = analyzer::follow_sends(t, plans);
    waits = analyzer::follow_waits(t, plans);
    maps = analyzer::follow_maps(t, plans);
  }
};

// Where the same bytes are sent twice and read once, the first send is unread or the second one was held already: which
// of the two is said depends on what was forgotten.
uint64_t sends_in_vain(const analyzer::SendFacts& s) { return s.unread + s.held + s.kept + s.returned + s.moved; }

uint64_t claims(const Facts& f) {
  uint64_t n = 0;
  for (const auto& s : f.sends) n += sends_in_vain(s);
  for (const auto& w : f.waits) n += w.idle + w.early;
  for (const auto& m : f.maps) n += m.undefined + m.unchanged;
  return n;
}

}  // namespace

TEST_CASE("claims about folded programs hold for their calls") {
  uint64_t folded_claims = 0, flat_claims = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const Trace folded = RandomProgram(seed).run();
    const Facts few(folded), all(flat(folded));
    CAPTURE(seed);
    for (size_t s = 0; s < folded.shapes.size(); ++s) {
      CAPTURE(s);
      CHECK(sends_in_vain(few.sends[s]) <= sends_in_vain(all.sends[s]));
      CHECK(few.waits[s].idle <= all.waits[s].idle);
      CHECK(few.waits[s].early <= all.waits[s].early);
      CHECK(few.maps[s].undefined <= all.maps[s].undefined);
      CHECK(few.maps[s].unchanged <= all.maps[s].unchanged);
    }
    folded_claims += claims(few);
    flat_claims += claims(all);
  }
  MESSAGE(folded_claims << " of " << flat_claims << " claims are found");
  CHECK(flat_claims > 10'000);
  CHECK(folded_claims > flat_claims * 3 / 4);
}
