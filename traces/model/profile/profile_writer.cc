// A profile as text: what each key means stands at the head of the file.
#include <algorithm>

#include "traces/model/profile/profile_keys.h"

namespace gt::model {
namespace {

constexpr size_t NameWidth = 18;

template <class T, size_t N>
void write_section(std::string& out, std::string_view name, const std::array<ProfileKey<T>, N>& keys, const T& value) {
  out.append("\n[").append(name).append("]\n");
  for (const ProfileKey<T>& k : keys) k.write(value, k.name, out);
}

template <class T, size_t N>
void explain(std::string& out, std::string_view section, const std::array<ProfileKey<T>, N>& keys) {
  out.append("#\n# ").append(section).append("\n");
  for (const ProfileKey<T>& k : keys) {
    out.append("#   ").append(k.name).append(NameWidth - std::min(NameWidth - 1, k.name.size()), ' ');
    out.append(k.help).append("\n");
  }
}

}  // namespace

std::string format_profile(const Profile& profile) {
  std::string out =
      "# gtrace profile: the allocations of a program that feed host-device transfers.\n"
      "# `goptimize run` reads it. You may edit it: a line is `key = value`, text stands in double quotes,\n"
      "# `#` starts a comment. Check an edited file with `ganalyze --check FILE`.\n";
  explain(out, "[program]", ProgramKeys);
  if (profile.platform) explain(out, "[platform]: where the predictions come from", PlatformKeys);
  explain(out, "[route]: may the program, or some of its queues, use remote devices?", RouteKeys);
  explain(out, "[site]: a place that allocates memory for transfers", SiteKeys);
  if (!profile.staging.empty()) explain(out, "[staging]: memory that no allocation made", StagingKeys);
  out += "\nversion = " + std::to_string(ProfileVersion) + "\n";
  write_section(out, "program", ProgramKeys, profile);
  if (profile.platform) write_section(out, "platform", PlatformKeys, *profile.platform);
  for (const ProfileRoute& r : profile.routes) write_section(out, "route", RouteKeys, r);
  for (const ProfileSite& s : profile.sites) write_section(out, "site", SiteKeys, s);
  for (const ProfileStaging& s : profile.staging) write_section(out, "staging", StagingKeys, s);
  return out;
}

}  // namespace gt::model
