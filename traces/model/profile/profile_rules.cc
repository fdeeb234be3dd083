// Rules within a section, then rules between sections of one kind.
#include "traces/model/profile/profile_rules.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gt::model {
namespace {

constexpr size_t MostAround = 64;

const char* wrong_with(const ProfileSite& s, const Profile& p) {
  if (s.build_id.empty() && s.module.empty()) return "a site needs a build_id or a module";
  if (s.offset == 0) return "a site needs an offset other than 0";
  if (s.min_bytes > s.max_bytes) return "min_bytes is larger than max_bytes";
  if (s.around.size() > MostAround) return "more than 64 calls around a site";
  if (s.seen_in > p.traces) return "seen_in is larger than the number of traces in [program]";
  return nullptr;
}

const char* wrong_with(const ProfileStaging& s, const Profile&) {
  if (s.smallest_bytes > s.largest_bytes) return "smallest_bytes is larger than largest_bytes";
  if (s.kind == "file" && s.module.empty()) return "a mapped file needs its name as `module`";
  return nullptr;
}

const char* wrong_with(const ProfileRoute& r, const Profile&) {
  return r.remote && !r.reasons.empty() ? "`remote = true` and a reason against it" : nullptr;
}

// With a build-id the file's name does not matter.
using Key = std::tuple<std::string, std::string, uint64_t>;
Key key_of(const std::string& build_id, const std::string& module, uint64_t offset) {
  return {build_id, build_id.empty() ? module : std::string(), offset};
}
Key key_of(const ProfilePlace& p) { return key_of(p.build_id, p.module, p.offset); }

std::vector<Key> chain_of(const ProfileSite& s) {
  std::vector<Key> chain = {key_of(s.build_id, s.module, s.offset)};
  for (const ProfilePlace& p : s.around) chain.push_back(key_of(p));
  return chain;
}

std::string same_as(size_t line, const char* what) {
  return "the section of line " + std::to_string(line) + " " + what;
}

template <class T>
BrokenRule check_each(const std::vector<T>& sections, const std::vector<size_t>& lines, const Profile& p) {
  for (size_t i = 0; i < sections.size(); ++i)
    if (const char* what = wrong_with(sections[i], p)) return {lines[i], what};
  return {};
}

// Two sections that speak of the same thing contradict each other.
template <class T, class KeyOf>
BrokenRule check_unique(const std::vector<T>& sections, const std::vector<size_t>& lines, const KeyOf& key_of_section) {
  std::map<decltype(key_of_section(sections[0])), size_t> seen;
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto [at, fresh] = seen.try_emplace(key_of_section(sections[i]), i);
    if (!fresh) return {lines[i], same_as(lines[at->second], "speaks of the same")};
  }
  return {};
}

// Sites of one place and chain may only differ in their sizes.
BrokenRule check_ranges(const std::vector<ProfileSite>& sites, const std::vector<size_t>& lines) {
  std::map<std::vector<Key>, std::vector<size_t>> places;
  for (size_t i = 0; i < sites.size(); ++i) places[chain_of(sites[i])].push_back(i);
  for (auto& [place, group] : places) {
    std::stable_sort(group.begin(), group.end(),
                     [&](size_t a, size_t b) { return sites[a].min_bytes < sites[b].min_bytes; });
    for (size_t n = 1; n < group.size(); ++n) {
      const size_t a = group[n - 1], b = group[n];
      if (sites[b].min_bytes > sites[a].max_bytes) continue;
      return {lines[std::max(a, b)], same_as(lines[std::min(a, b)], "has the same place, and sizes in common")};
    }
  }
  return {};
}

}  // namespace

BrokenRule check_rules(const Profile& p, const ProfileLines& lines) {
  BrokenRule broken = check_each(p.routes, lines.routes, p);
  if (broken.what.empty()) broken = check_each(p.sites, lines.sites, p);
  if (broken.what.empty()) broken = check_each(p.staging, lines.staging, p);
  if (broken.what.empty()) {
    broken = check_unique(p.routes, lines.routes, [](const ProfileRoute& r) { return key_of(r.queue); });
  }
  if (broken.what.empty()) {
    broken =
        check_unique(p.staging, lines.staging, [](const ProfileStaging& s) { return std::tuple(s.kind, s.module); });
  }
  return broken.what.empty() ? check_ranges(p.sites, lines.sites) : broken;
}

}  // namespace gt::model
