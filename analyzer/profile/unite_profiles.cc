// Uniting profiles, section by section.
#include "analyzer/profile/unite_profiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/model/profile/profile_sites.h"

namespace gt::analyzer {
namespace {

using model::Profile;

Status different(const Input& a, const Input& b, const std::string& how) {
  return {Kind::Invalid,
          fmt::format("{} and {} are of {}: a profile is for one program; compare them with ganalyze diff", a.file,
                      b.file, how)};
}

Status check_same_program(std::span<const Input> inputs) {
  const Input& first = inputs[0];
  for (const Input& i : inputs.subspan(1)) {
    const Analysis &a = first.analysis, &b = i.analysis;
    const bool same_build = a.build_id == b.build_id && !a.build_id.empty();
    if (same_build || (a.build_id == b.build_id && a.program_name() == b.program_name())) continue;
    if (a.program_name() != b.program_name()) {
      return different(first, i, fmt::format("different programs ({}, {})", a.program_name(), b.program_name()));
    }
    return different(first, i, fmt::format("different builds of {}", a.program_name()));
  }
  return {};
}

void unite_sites(Profile& all, const Profile& p) {
  for (const model::ProfileSite& s : p.sites) {
    const auto at = std::find_if(all.sites.begin(), all.sites.end(), [&](const auto& o) { return same_chain(o, s); });
    if (at == all.sites.end()) {
      all.sites.push_back(s);
      continue;
    }
    const uint64_t seen = at->seen_in + s.seen_in;
    unite(*at, s);
    at->seen_in = seen;
  }
}

void unite_staging(Profile& all, const Profile& p) {
  for (const model::ProfileStaging& s : p.staging) {
    const auto same = [&](const auto& o) { return o.kind == s.kind && o.module == s.module; };
    const auto at = std::find_if(all.staging.begin(), all.staging.end(), same);
    if (at == all.staging.end()) {
      all.staging.push_back(s);
      continue;
    }
    at->transfers += s.transfers;
    at->h2d_bytes += s.h2d_bytes;
    at->d2h_bytes += s.d2h_bytes;
    at->transfer_ns += s.transfer_ns;
    at->smallest_bytes = std::min(at->smallest_bytes, s.smallest_bytes);
    at->largest_bytes = std::max(at->largest_bytes, s.largest_bytes);
    at->stage |= s.stage;
    at->stage_from = std::min(at->stage_from, s.stage_from);
  }
}

// What may not in one run may not at all.
void unite_routes(Profile& all, const Profile& p) {
  for (const model::ProfileRoute& r : p.routes) {
    const auto at =
        std::find_if(all.routes.begin(), all.routes.end(), [&](const auto& o) { return o.queue == r.queue; });
    if (at == all.routes.end()) {
      all.routes.push_back(r);
      continue;
    }
    at->remote &= r.remote;
    for (const std::string& reason : r.reasons) {
      const bool known = std::find(at->reasons.begin(), at->reasons.end(), reason) != at->reasons.end();
      if (!known) at->reasons.push_back(reason);
    }
  }
}

}  // namespace

Ratio united_ratio(std::span<const Input> inputs) {
  Ratio all;
  for (const Input& i : inputs) {
    all.transfer_ns += i.analysis.ratio.program.transfer_ns;
    all.kernel_ns += i.analysis.ratio.program.kernel_ns;
  }
  return all;
}

Result<Profile> unite_profiles(std::span<const Input> inputs, double min_ratio) {
  GT_TRY(check_same_program(inputs));
  Profile all = inputs[0].profile;
  for (const Input& i : inputs.subspan(1)) {
    unite_sites(all, i.profile);
    unite_staging(all, i.profile);
    unite_routes(all, i.profile);
    if (!all.platform) all.platform = i.profile.platform;
    if (all.trace_digest.find(i.profile.trace_digest) == std::string::npos) {
      all.trace_digest += " " + i.profile.trace_digest;
    }
  }
  std::stable_sort(all.sites.begin(), all.sites.end(),
                   [](const auto& a, const auto& b) { return a.transfer_ns > b.transfer_ns; });
  all.traces = inputs.size();
  const Ratio ratio = united_ratio(inputs);
  all.dispatch_ratio = ratio.value();
  all.eligible = ratio.transfer_ns > 0 && ratio.value() >= min_ratio;
  return all;
}

}  // namespace gt::analyzer
