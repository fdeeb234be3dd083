#include "tracer/gtrace/replay/what_if.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tracer/gtrace/replay/host_block.h"
#include "traces/base/build_id.h"
#include "traces/base/fd.h"
#include "traces/base/own_path.h"
#include "traces/model/profile/profile.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

// A profile of this program: the memory of all transfers comes from one place.
std::string own_profile(const fs::path& program, const std::string& policy) {
  model::Profile profile;
  profile.program = program.string();
  profile.build_id = build_id_of_file(program.string());
  profile.eligible = true;
  model::ProfileSite site;
  site.build_id = profile.build_id;
  site.module = program.filename().string();
  site.offset = host_block_site();
  site.max_bytes = ~uint64_t{0};
  site.typical_bytes = 1 << 20;
  site.transfers_each = 1;
  site.policy = policy;
  profile.sites.push_back(site);
  return model::format_profile(profile);
}

// A file without a name, which stays open in the program that this one becomes.
Result<std::string> nameless_file(const std::string& text) {
  Fd file(::memfd_create("gtrace-replay.gprofile", 0));
  if (!file.open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("no memory for a profile", errno);
  return fmt::format("/proc/self/fd/{}", file.release());
}

bool is_ours(const std::string& word, const char* option) {
  return word == option || word.starts_with(std::string(option) + "=");
}

std::vector<std::string> without_choice(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool ours = is_ours(arguments[i], "--policy") || is_ours(arguments[i], "--remote");
    if (!ours) out.push_back(arguments[i]);
    if (ours && arguments[i].find('=') == std::string::npos) ++i;  // its value
  }
  return out;
}

Status append_policy(const std::string& policy, const fs::path& program, std::vector<std::string>& command) {
  if (policy == "none") return {};
  command.insert(command.end(), {"--measure-seconds", "0", "--pages", "never", "--reuse", "never", "--stage"});
  command.emplace_back(policy == "staged" ? "always" : "never");
  if (policy == "staged" || policy == "standard") return {};
  const Result<std::string> profile = nameless_file(own_profile(program, policy));
  if (!profile) return profile.status();
  command.insert(command.end(), {"--force-policy", policy, "--profile", *profile});
  return {};
}

}  // namespace

Status become_what_if(const WhatIf& choice, const std::vector<std::string>& arguments) {
  const fs::path program = own_path();
  const std::string goptimize = program_beside("goptimize");
  if (::access(goptimize.c_str(), X_OK) != 0)
    return {Kind::Unsupported, fmt::format("--policy and --remote need goptimize, and {} is not there", goptimize)};
  std::vector<std::string> command{goptimize, "run"};
  GT_TRY(append_policy(choice.policy, program, command));
  if (!choice.remote.empty()) command.insert(command.end(), {"--remote", choice.remote, "--only", "remote"});
  command.insert(command.end(), {"--", program.string(), "replay"});
  for (const std::string& word : without_choice(arguments)) command.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  ::execv(argv[0], argv.data());
  return system_error("cannot start " + goptimize, errno);
}

}  // namespace gt::tracer
