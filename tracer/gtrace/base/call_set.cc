// Words to ranges and patterns.
#include "tracer/gtrace/base/call_set.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

namespace gt::tracer {
namespace {

// Takes a number off the front of `text`.
bool take_number(std::string_view& text, uint64_t& n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Result<CallSet> CallSet::parse(std::string_view text) {
  CallSet set;
  if (text.empty()) return set;
  set.everything_ = false;
  while (true) {
    const size_t comma = text.find(',');
    if (Status s = set.add(trimmed(text.substr(0, comma)), false); !s) return s;
    if (comma == text.npos) return set;
    text.remove_prefix(comma + 1);
  }
}

Status CallSet::add(std::string_view word, bool in_file) {
  const Status bad(Kind::Invalid, "'" + std::string(word) +
                                      "' is no set of calls: give numbers (17), ranges (100-200, 0-100/2), memory "
                                      "calls (m17), names (clEnqueue*) or @FILE");
  if (word.empty()) return bad;
  if (word[0] == '@') return in_file ? bad : add_file(std::string(word.substr(1)));
  std::string_view rest = word;
  Range r;
  if (rest.size() > 1 && rest[0] == 'm' && is_digit(rest[1])) r.memory = take(rest, 'm');
  take(rest, '#');
  if (rest.empty() || !is_digit(rest[0])) {
    const bool name = word.find_first_of(" /#-") == word.npos || word.starts_with("operator ");
    if (!name) return bad;
    names_.emplace_back(word);
    return {};
  }
  if (!take_number(rest, r.first)) return bad;
  r.last = r.first;
  if (take(rest, '-')) {
    r.last = UINT64_MAX;
    if (!rest.empty() && is_digit(rest[0]) && !take_number(rest, r.last)) return bad;
  }
  if (take(rest, '/') && (!take_number(rest, r.step) || r.step == 0)) return bad;
  if (!rest.empty() || r.last < r.first) return bad;
  ranges_.push_back(r);
  return {};
}

Status CallSet::add_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return {Kind::System, "cannot read " + path};
  for (std::string line; std::getline(in, line);) {
    const std::string_view word = trimmed(line);
    if (word.empty()) continue;
    if (Status s = add(word, true); !s) return {s.kind(), path + ": " + s.text()};
  }
  return {};
}

bool CallSet::has(bool memory, uint64_t n) const {
  return everything_ || std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) {
           return r.memory == memory && n >= r.first && n <= r.last && (n - r.first) % r.step == 0;
         });
}

bool CallSet::has_name(std::string_view function) const {
  const std::string name(function);
  return everything_ || std::any_of(names_.begin(), names_.end(), [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

bool CallSet::meets(bool memory, uint64_t first, uint64_t last) const {
  return everything_ || std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) {
           if (r.memory != memory || r.last < first || r.first > last) return false;
           if (r.first >= first) return true;
           const uint64_t at = r.first + (first - r.first + r.step - 1) / r.step * r.step;  // the next one of its steps
           return at >= first && at <= last && at <= r.last;
         });
}

uint64_t CallSet::last(bool memory) const {
  if (names_anything()) return UINT64_MAX;
  uint64_t n = 0;
  for (const Range& r : ranges_) {
    if (r.memory == memory) n = std::max(n, r.last);
  }
  return n;
}

Result<uint64_t> parse_time(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const bool seconds = unit.empty() || unit == "s";
  const double scale = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : seconds ? 1e9 : 0;
  if (error != std::errc() || scale == 0 || !(number >= 0) || number * scale > 1e18) {
    return Status(Kind::Invalid, "'" + std::string(text) + "' is no time: give 1.5s, 200ms, 30us or 500ns");
  }
  return static_cast<uint64_t>(std::llround(number * scale));
}

}  // namespace gt::tracer
