// Reading a profile with a person's eyes.
#include "analyzer/profile/profile_check.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "analyzer/base/text.h"
#include "analyzer/base/units.h"
#include "traces/base/build_id.h"
#include "traces/model/platform/platform.h"
#include "traces/model/profile/profile_sites.h"

namespace gt::analyzer {
namespace {

using model::Profile;
using model::ProfileSite;

constexpr double UsualThreshold = 0.1;
constexpr uint64_t NoLimit = std::numeric_limits<uint64_t>::max();

std::string site_name(const ProfileSite& s) {
  const std::string place = fmt::format("{}+{:#x}", s.module.empty() ? s.build_id : s.module, s.offset);
  return printable(s.where.empty() ? place : fmt::format("{} ({})", s.where, place));
}

void odd_ratio(const Profile& p, std::vector<std::string>& out) {
  if (p.eligible && p.dispatch_ratio == 0) {
    out.push_back("eligible, with a dispatch ratio of 0: no transfer was seen");
  } else if (!p.eligible && p.dispatch_ratio >= UsualThreshold && !p.sites.empty()) {
    out.push_back(fmt::format("not eligible, with a dispatch ratio of {:.3g}: goptimize leaves its sites alone",
                              p.dispatch_ratio));
  }
  if (p.build_id.empty()) out.push_back("the program has no build-id: a changed program would not be noticed");
}

void odd_site(const ProfileSite& s, std::vector<std::string>& out) {
  const auto say = [&](const std::string& what) { out.push_back(site_name(s) + ": " + what); };
  if (s.typical_bytes > 0 && (s.typical_bytes < s.min_bytes || s.typical_bytes > s.max_bytes)) {
    say(fmt::format("typical_bytes ({}) lies outside of min_bytes to max_bytes", s.typical_bytes));
  }
  if (!s.sizes.empty() && s.sizes.back().from > s.max_bytes) say("sizes has more than max_bytes: left alone");
  if (s.max_bytes == NoLimit) say("no max_bytes: allocations of any size are taken");
  if (s.policy == "auto" && s.transfers_each == 0) say("no transfers are expected: policy auto does nothing here");
  if (s.transfers_each == 0 && s.h2d_bytes + s.d2h_bytes > 0) say("bytes are moved, in no transfer");
  if (s.build_id.empty()) say("no build-id: any module of this name matches");
}

void odd_wrappers(const Profile& p, std::vector<std::string>& out) {
  for (size_t i = 0; i < p.sites.size(); ++i) {
    for (size_t k = i + 1; k < p.sites.size(); ++k) {
      const ProfileSite &a = p.sites[i], &b = p.sites[k];
      if (!same_place(a, b) || a.policy == b.policy || (a.around.empty() && b.around.empty())) continue;
      out.push_back(site_name(b) + ": another policy than the same place has elsewhere; who cannot see the callers " +
                    "takes both as one");
    }
  }
}

void odd_staging(const model::ProfileStaging& s, std::vector<std::string>& out) {
  if (s.stage && s.largest_bytes > 0 && s.stage_from > s.largest_bytes) {
    out.push_back(fmt::format("staging of {}: stage_from is larger than any transfer seen", s.kind));
  }
}

// Where a module with this file name lies here; "" when not found.
std::string find_module(const std::string& name, const std::string& program) {
  const std::filesystem::path own(program);
  if (name == own.filename()) return program;
  static constexpr const char* Folders[] = {"/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
                                            "/usr/local/lib"};
  std::error_code ignored;
  const auto beside = own.parent_path() / name;
  if (std::filesystem::is_regular_file(beside, ignored)) return beside.string();
  for (const char* folder : Folders) {
    const std::string path = std::string(folder) + "/" + name;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

void compare_build(const std::string& path, const std::string& expected, std::vector<std::string>& out) {
  if (expected.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    out.push_back(printable(path) + ": not on this machine");
    return;
  }
  const std::string found = build_id_of_file(path);
  if (found == expected) return;
  out.push_back(fmt::format("{}: the file here has {}, the profile's is {}: its sites will not match; trace it again",
                            printable(path), found.empty() ? "no build-id" : "build-id " + found, expected));
}

std::string platform_line(const Profile& p) {
  const bool here = p.platform->fingerprint == model::fingerprint(model::this_machine());
  return fmt::format("  predictions  {} on {}, {}\n", printable(p.platform->device), printable(p.platform->cpu),
                     here ? "this machine" : "another machine or other drivers");
}

std::string route_lines(const Profile& p) {
  std::string out;
  for (const model::ProfileRoute& r : p.routes) {
    const std::string who = r.whole_program() ? "the program" : "queues made at " + printable(r.where);
    out += fmt::format("  remote       {} {} run on remote devices{}\n", who, r.remote ? "may" : "cannot",
                       r.reasons.empty() ? "" : ": " + printable(fmt::format("{}", fmt::join(r.reasons, "; "))));
  }
  return out;
}

std::string site_lines(const Profile& p) {
  uint64_t to = 0, from = 0;
  std::map<std::string, size_t> policies;
  for (const ProfileSite& s : p.sites) {
    to += s.h2d_bytes;
    from += s.d2h_bytes;
    ++policies[s.policy];
  }
  std::string out = fmt::format("  sites        {}: {} to devices, {} from devices\n", p.sites.size(), bytes_text(to),
                                bytes_text(from));
  for (const auto& [policy, count] : policies) out += fmt::format("  policy       {} for {}\n", policy, count);
  return out;
}

}  // namespace

std::string summarize_profile(const Profile& p) {
  std::string out = fmt::format("a valid profile of {}: version {}, {} site{}, {}\n",
                                p.program.empty() ? "a program" : printable(p.program), p.version, p.sites.size(),
                                p.sites.size() == 1 ? "" : "s", p.eligible ? "eligible" : "not eligible");
  out += fmt::format("  made from    {} trace{}\n", p.traces, p.traces == 1 ? "" : "s");
  out += std::isinf(p.dispatch_ratio) ? std::string("  ratio        infinite (no kernels)\n")
                                      : fmt::format("  ratio        {:.3g}\n", p.dispatch_ratio);
  if (!p.sites.empty()) out += site_lines(p);
  for (const model::ProfileStaging& s : p.staging) {
    out += fmt::format("  staging      {} {}: {}\n", s.kind, printable(s.module),
                       s.stage ? "from " + bytes_text(s.stage_from) + " on" : std::string("no"));
  }
  out += route_lines(p);
  if (p.platform) out += platform_line(p);
  return out;
}

std::vector<std::string> odd_values(const Profile& p) {
  std::vector<std::string> out;
  odd_ratio(p, out);
  for (const ProfileSite& s : p.sites) odd_site(s, out);
  odd_wrappers(p, out);
  for (const model::ProfileStaging& s : p.staging) odd_staging(s, out);
  return out;
}

std::vector<std::string> strange_here(const Profile& p) {
  std::vector<std::string> out;
  std::set<std::pair<std::string, std::string>> seen = {{p.program, p.build_id}};
  if (!p.program.empty()) compare_build(p.program, p.build_id, out);
  for (const ProfileSite& s : p.sites) {
    const std::string path = find_module(s.module, p.program);
    if (!path.empty() && seen.insert({path, s.build_id}).second) compare_build(path, s.build_id, out);
  }
  return out;
}

}  // namespace gt::analyzer
