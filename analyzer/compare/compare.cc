// Joining what belongs together, by keys.
#include "analyzer/compare/compare.h"

#include <algorithm>
#include <map>
#include <set>

namespace gt::analyzer {
namespace {

// Rows in the order of first appearance. A key that an input has twice is numbered there.
template <class T>
class Joiner {
 public:
  explicit Joiner(size_t inputs) : inputs_(inputs), seen_(inputs) {}

  void add(size_t input, const std::string& key, const std::string& name, const T& value) {
    const size_t nth = seen_[input][key]++;
    const auto [at, fresh] = rows_.try_emplace({key, nth}, out_.size());
    if (fresh) out_.push_back({name, std::vector<const T*>(inputs_)});
    out_[at->second].in[input] = &value;
  }
  std::vector<Row<T>> take() { return std::move(out_); }

 private:
  size_t inputs_;
  std::vector<std::map<std::string, size_t>> seen_;
  std::map<std::pair<std::string, size_t>, size_t> rows_;
  std::vector<Row<T>> out_;
};

// Modules, by file name, that are of one build in all inputs.
class Builds {
 public:
  explicit Builds(std::span<const Input> inputs) {
    for (const Input& i : inputs) {
      programs_.insert(i.analysis.build_id);
      for (const TransferSource& s : i.analysis.sources) {
        add(s.site);
        for (const CallSite& c : s.site.around) add(c);
      }
    }
  }
  bool same(const CallSite& s) const {
    const auto at = ids_.find(s.module_name());
    return at != ids_.end() && at->second.size() == 1;
  }
  bool same_program() const { return programs_.size() == 1; }

 private:
  void add(const CallSite& s) { ids_[s.module_name()].insert(s.build_id); }
  std::map<std::string, std::set<std::string>> ids_;
  std::set<std::string> programs_;
};

std::string place_key(const CallSite& s, const Builds& builds) {
  const bool known = !s.frames.empty() && !s.frames[0].function.empty();
  if (builds.same(s) || !known) return s.module_name() + "+" + std::to_string(s.offset);
  const std::string& file = s.frames[0].file;
  return s.frames[0].function + "@" + file.substr(file.rfind('/') + 1);
}

std::string source_key(const TransferSource& s, const Builds& builds) {
  if (!s.allocated()) return s.name();
  std::string key = s.call + "|" + place_key(s.site, builds);
  for (const CallSite& c : s.site.around) key += "|" + place_key(c, builds);
  return key;
}

// Lines move between builds.
std::string without_lines(const std::string& place) {
  std::string out;
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] == ':' && i + 1 < place.size() && place[i + 1] >= '0' && place[i + 1] <= '9') {
      i = std::min(place.find_first_not_of("0123456789", i + 1), place.size()) - 1;
    } else {
      out += place[i];
    }
  }
  return out;
}

}  // namespace

Comparison compare(std::span<const Input> inputs) {
  const Builds builds(inputs);
  Joiner<TransferSource> sources(inputs.size());
  Joiner<KernelFacts> kernels(inputs.size());
  Joiner<LoopTrips> loops(inputs.size());
  Joiner<Finding> findings(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Analysis& a = inputs[i].analysis;
    for (const auto& s : a.sources)
      if (s.sums.transfers > 0) sources.add(i, source_key(s, builds), s.name(), s);
    for (const auto& k : a.kernels) kernels.add(i, k.name, k.name, k);
    for (const auto& f : a.found.findings) {
      const std::string place = builds.same_program() ? f.place : without_lines(f.place);
      findings.add(i, f.rule + "|" + place, f.rule + " at " + f.place, f);
    }
    for (const auto& l : inputs[i].loops) {
      loops.add(i, std::to_string(builds.same_program() ? l.exact_key : l.loose_key), l.name, l);
    }
  }
  return {sources.take(), kernels.take(), loops.take(), findings.take()};
}

}  // namespace gt::analyzer
