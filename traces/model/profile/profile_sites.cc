// Uniting sites.
#include "traces/model/profile/profile_sites.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gt::model {
namespace {

bool same(const std::string& build_a, const std::string& module_a, uint64_t offset_a, const std::string& build_b,
          const std::string& module_b, uint64_t offset_b) {
  return build_a == build_b && offset_a == offset_b && (!build_a.empty() || module_a == module_b);
}
bool same(const ProfilePlace& a, const ProfilePlace& b) {
  return same(a.build_id, a.module, a.offset, b.build_id, b.module, b.offset);
}

double weight(const ProfileSite& s) { return static_cast<double>(std::max<uint64_t>(s.allocations, 1)); }

double weighted(double a, double wa, double b, double wb) { return (a * wa + b * wb) / (wa + wb); }

uint64_t united_typical(const ProfileSite& a, const ProfileSite& b) {
  if (a.typical_bytes == 0 || b.typical_bytes == 0) return std::max(a.typical_bytes, b.typical_bytes);
  return static_cast<uint64_t>(
      weighted(static_cast<double>(a.typical_bytes), weight(a), static_cast<double>(b.typical_bytes), weight(b)) + 0.5);
}

std::vector<SizeCount> united_sizes(const std::vector<SizeCount>& a, const std::vector<SizeCount>& b) {
  std::map<uint64_t, uint64_t> sum;
  for (const auto* list : {&a, &b})
    for (const SizeCount& s : *list) sum[s.from] += s.count;
  std::vector<SizeCount> out;
  for (const auto& [from, count] : sum) out.push_back({from, count});
  return out;
}

std::string united_policy(const std::string& a, const std::string& b) {
  if (a == b || b == "auto") return a;
  return a == "auto" ? b : "auto";
}

void unite_prediction(ProfileSite& into, const ProfileSite& from) {
  into.predicted_s += from.predicted_s;
  into.standard_s += from.standard_s;
  if (into.predicted_policy == from.predicted_policy) return;
  into.predicted_policy.clear();
  into.predicted_s = into.standard_s = 0;
}

void unite_calls(std::string& into, const std::string& from) {
  if ((", " + into + ", ").find(", " + from + ", ") == std::string::npos) into += ", " + from;
}

}  // namespace

bool same_place(const ProfileSite& a, const ProfileSite& b) {
  return same(a.build_id, a.module, a.offset, b.build_id, b.module, b.offset);
}

bool same_chain(const ProfileSite& a, const ProfileSite& b) {
  return same_place(a, b) && std::equal(a.around.begin(), a.around.end(), b.around.begin(), b.around.end(),
                                        [](const auto& x, const auto& y) { return same(x, y); });
}

void unite(ProfileSite& into, const ProfileSite& from) {
  into.typical_bytes = united_typical(into, from);
  into.transfers_each = weighted(into.transfers_each, weight(into), from.transfers_each, weight(from));
  into.min_bytes = std::min(into.min_bytes, from.min_bytes);
  into.max_bytes = std::max(into.max_bytes, from.max_bytes);
  into.sizes = united_sizes(into.sizes, from.sizes);
  into.allocations += from.allocations;
  into.h2d_bytes += from.h2d_bytes;
  into.d2h_bytes += from.d2h_bytes;
  into.transfer_ns += from.transfer_ns;
  into.policy = united_policy(into.policy, from.policy);
  into.seen_in = std::max(into.seen_in, from.seen_in);
  unite_prediction(into, from);
  unite_calls(into.call, from.call);
}

void merge_chains(Profile& profile) {
  // A place is merged when any of its sites has callers.
  const auto place = [](const ProfileSite& s) {
    return std::tuple(s.build_id, s.build_id.empty() ? s.module : std::string(), s.offset);
  };
  std::map<decltype(place(ProfileSite())), bool> chained;
  for (const ProfileSite& s : profile.sites) chained[place(s)] |= !s.around.empty();
  std::map<decltype(place(ProfileSite())), size_t> first;
  std::vector<ProfileSite> out;
  for (ProfileSite& s : profile.sites) {
    const auto key = place(s);
    const auto [at, fresh] = chained[key] ? first.try_emplace(key, out.size()) : std::pair(first.end(), true);
    if (!fresh) {
      unite(out[at->second], s);
      continue;
    }
    s.around.clear();
    out.push_back(std::move(s));
  }
  profile.sites = std::move(out);
}

}  // namespace gt::model
