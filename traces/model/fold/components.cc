// Tarjan's algorithm without recursion: streams may have as many places as a program has calls.
#include "traces/model/fold/components.h"

#include <algorithm>
#include <unordered_map>

namespace gt::model {
namespace {

class Search {
 public:
  Search(const std::vector<Vertices>& next, const std::vector<bool>& in_part) : next_(next), in_part_(in_part) {}

  void from(uint32_t root) {
    if (states_.count(root)) return;
    enter(root);
    while (!path_.empty()) {
      const uint32_t v = path_.back();
      State& s = states_[v];
      if (s.edge < next_[v].size()) {
        look_at(s, next_[v][s.edge++]);
      } else {
        leave(v, s);
      }
    }
  }
  std::vector<Vertices> found;  // every component after those that it leads to

 private:
  struct State {
    uint32_t number = 0, low = 0;
    size_t edge = 0;
    bool open = true;
  };

  void enter(uint32_t v) {
    const auto number = static_cast<uint32_t>(states_.size());
    states_[v] = {number, number, 0, true};
    path_.push_back(v);
    open_.push_back(v);
  }
  void look_at(State& s, uint32_t to) {
    if (!in_part_[to]) return;
    const auto known = states_.find(to);
    if (known == states_.end()) {
      enter(to);
    } else if (known->second.open) {
      s.low = std::min(s.low, known->second.number);
    }
  }
  void leave(uint32_t v, State& s) {
    path_.pop_back();
    if (!path_.empty()) {
      State& before = states_[path_.back()];
      before.low = std::min(before.low, s.low);
    }
    if (s.low != s.number) return;
    Vertices& component = found.emplace_back();
    do {
      component.push_back(open_.back());
      states_[open_.back()].open = false;
      open_.pop_back();
    } while (component.back() != v);
  }

  const std::vector<Vertices>& next_;
  const std::vector<bool>& in_part_;
  std::unordered_map<uint32_t, State> states_;
  Vertices path_, open_;
};

}  // namespace

std::vector<Vertices> components(const std::vector<Vertices>& next, const Vertices& part, std::vector<bool>& in_part) {
  for (const uint32_t v : part) in_part[v] = true;
  Search search(next, in_part);
  for (const uint32_t v : part) search.from(v);
  for (const uint32_t v : part) in_part[v] = false;
  std::reverse(search.found.begin(), search.found.end());
  return std::move(search.found);
}

}  // namespace gt::model
