// What differs between traces: each aspect as a text for each of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyzer/compare/compare.h"
#include "analyzer/base/units.h"

namespace gt::analyzer {
namespace {

using Values = std::vector<std::string>;

class Finder {
 public:
  explicit Finder(std::span<const Input> inputs) : inputs_(inputs) {}

  void add(const char* about, const std::string& name, const char* aspect, Values values, bool structural = true) {
    const bool all_same = std::all_of(values.begin(), values.end(), [&](const auto& v) { return v == values[0]; });
    if (!all_same) out_.push_back({about, name, aspect, std::move(values), structural});
  }

  // True when every input has it; else that is the difference.
  template <class T>
  bool everywhere(const char* about, const Row<T>& row, bool structural = true) {
    Values values;
    for (const T* v : row.in) values.push_back(v ? "yes" : "");
    add(about, row.name, "", values, structural);
    return std::find(row.in.begin(), row.in.end(), nullptr) == row.in.end();
  }

  template <class T, class Text>
  void aspect(const char* about, const Row<T>& row, const char* what, const Text& text) {
    Values values;
    for (const T* v : row.in) values.push_back(text(*v));
    add(about, row.name, what, std::move(values));
  }

  template <class Text>
  void whole(const char* about, bool structural, const Text& text) {
    Values values;
    for (const Input& i : inputs_) values.push_back(text(i.analysis));
    add(about, "", "", std::move(values), structural);
  }

  std::vector<Difference> take() { return std::move(out_); }

 private:
  std::span<const Input> inputs_;
  std::vector<Difference> out_;
};

// Ratios that people would call different.
std::string ratio_text(const Analysis& a) {
  if (!a.ratio.program.defined()) return "none";
  const double v = a.ratio.program.value();
  return std::isinf(v) ? "infinite" : fmt::format("{:.2g}", v);
}

std::string sizes_text(const TransferSource& s) {
  if (s.sizes.count == 0) return "-";
  if (s.sizes.min == s.sizes.max) return bytes_text(s.sizes.max);
  return bytes_text(s.sizes.min) + " to " + bytes_text(s.sizes.max);
}

std::string access_text(const KernelFacts& k) {
  std::string out;
  for (const kernels::Arg& a : k.args)
    out += (out.empty() ? "" : ", ") + a.name + ": " + kernels::access_name(a.access);
  return out.empty() ? "-" : out;
}

void add_sources(Finder& f, const Comparison& c) {
  for (const auto& row : c.sources) {
    if (!f.everywhere("site", row)) continue;
    f.aspect("site", row, "allocated", sizes_text);
    f.aspect("site", row, "allocations", [](const auto& s) { return std::to_string(s.allocations); });
    f.aspect("site", row, "transfers", [](const auto& s) { return std::to_string(s.sums.transfers); });
    f.aspect("site", row, "to devices", [](const auto& s) { return bytes_text(s.sums.h2d_bytes); });
    f.aspect("site", row, "from devices", [](const auto& s) { return bytes_text(s.sums.d2h_bytes); });
  }
}

void add_kernels(Finder& f, const Comparison& c) {
  for (const auto& row : c.kernels) {
    if (!f.everywhere("kernel", row)) continue;
    f.aspect("kernel", row, "launches", [](const auto& k) { return std::to_string(k.launches); });
    f.aspect("kernel", row, "arguments", access_text);
  }
}

}  // namespace

std::vector<Difference> find_differences(std::span<const Input> inputs, const Comparison& c) {
  Finder f(inputs);
  f.whole("ratio", false, ratio_text);
  f.whole("eligible", false, [](const Analysis& a) { return std::string(a.ratio.eligible ? "yes" : "no"); });
  f.whole("remote", true, [](const Analysis& a) {
    return a.remote.eligible ? std::string("yes") : fmt::format("no: {}", fmt::join(a.remote.reasons, "; "));
  });
  add_sources(f, c);
  add_kernels(f, c);
  for (const auto& row : c.loops) {
    if (f.everywhere("loop", row)) f.aspect("loop", row, "iterations", [](const auto& l) { return l.trips; });
  }
  for (const auto& row : c.findings) f.everywhere("finding", row, false);
  return f.take();
}

bool same_structure(const std::vector<Difference>& differences) {
  return std::none_of(differences.begin(), differences.end(), [](const Difference& d) { return d.structural; });
}

}  // namespace gt::analyzer
