// Facts and back.
#include "traces/model/folded/run_usage.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace gt::model {
namespace {

constexpr std::string_view Wall = "run.wall_ns", User = "run.user_ns", System = "run.system_ns",
                           Minor = "run.minor_faults", Major = "run.major_faults",
                           PageNs = "first_touch.page_ns", HugePageNs = "first_touch.huge_page_ns", Fresh = "fresh.";

// All of `text` is a number.
std::optional<uint64_t> number(std::string_view text) {
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return v;
}

void add(Trace& trace, std::string_view name, uint64_t value) {
  trace.facts.emplace_back(std::string(name), std::to_string(value));
}

}  // namespace

void add_run_facts(Trace& trace, const RunUsage& usage, const TouchCosts& costs) {
  add(trace, Wall, usage.wall_ns);
  add(trace, User, usage.user_ns);
  add(trace, System, usage.system_ns);
  add(trace, Minor, usage.minor_faults);
  add(trace, Major, usage.major_faults);
  if (costs.page_ns == 0) return;
  add(trace, PageNs, costs.page_ns);
  if (costs.huge_page_ns) add(trace, HugePageNs, *costs.huge_page_ns);
}

void add_fresh_facts(Trace& trace, const std::map<ShapeId, FreshBytes>& fresh) {
  for (const auto& [shape, f] : fresh) {
    trace.facts.emplace_back(std::string(Fresh) + std::to_string(shape),
                             std::to_string(f.bytes) + " " + std::to_string(f.fresh));
  }
}

std::optional<RunUsage> read_run_usage(const Trace& trace) {
  const auto wall = number(trace.fact(Wall));
  if (!wall || *wall == 0) return std::nullopt;
  const auto or_0 = [&](std::string_view name) { return number(trace.fact(name)).value_or(0); };
  return RunUsage{*wall, or_0(User), or_0(System), or_0(Minor), or_0(Major)};
}

std::optional<TouchCosts> read_touch_costs(const Trace& trace) {
  const auto page = number(trace.fact(PageNs));
  if (!page || *page == 0) return std::nullopt;
  return TouchCosts{*page, number(trace.fact(HugePageNs))};
}

std::map<ShapeId, FreshBytes> read_fresh(const Trace& trace) {
  std::map<ShapeId, FreshBytes> out;
  for (const auto& [name, value] : trace.facts) {
    if (!is_fresh_row(name)) continue;
    const std::string_view text = value;
    const size_t blank = text.find(' ');
    if (blank == text.npos) continue;
    const auto shape = number(std::string_view(name).substr(Fresh.size()));
    const auto bytes = number(text.substr(0, blank)), fresh = number(text.substr(blank + 1));
    if (!shape || *shape >= trace.shapes.size() || !bytes || !fresh) continue;
    out[static_cast<ShapeId>(*shape)] = {*bytes, std::min(*bytes, *fresh)};
  }
  return out;
}

bool is_fresh_row(std::string_view fact) { return fact.starts_with(Fresh); }

}  // namespace gt::model
