// Finding the profile and the platform file.
#include "optimizer-rt/goptimize/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/private_folder.h"
#include "traces/base/build_id.h"
#include "traces/base/text_file.h"
#include "traces/model/platform/platform_merge.h"
#include "traces/model/profile/profile_sites.h"

namespace gt::opt {
namespace {

constexpr size_t MaxProfileBytes = 16 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<FoundProfile> read_profile(const std::string& path) {
  const Result<std::string> text = read_text_file(path, MaxProfileBytes, "a profile");
  if (!text) return Status(Kind::Corrupt, text.status().text());
  Result<model::Profile> profile = model::parse_profile(*text, path);
  if (!profile) return profile.status();
  model::merge_chains(*profile);  // the injected library sees the return address of an allocation, not who called
  return FoundProfile{path, std::move(*profile)};
}

std::string kept_profile_path(const std::string& build_id) {
  std::string data = variable("XDG_DATA_HOME");
  if (data.empty() || data.front() != '/') {
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    data = home + "/.local/share";
  }
  return fmt::format("{}/gtrace/profiles/{}.gprofile", data, build_id);
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// In the user's cache; where none can be written, in a folder of ours beside temporary files.
Result<std::string> writable_cache_path() {
  const std::string cache = model::platform_cache_path();
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(cache).parent_path();
  if (!cache.empty()) std::filesystem::create_directories(folder, error);
  if (!cache.empty() && ::access(folder.c_str(), W_OK) == 0) return cache;
  const std::string temporary = std::filesystem::temp_directory_path(error).string();
  const std::string own = fmt::format("{}/gtrace-{}", temporary, ::geteuid());
  if (const Status s = private_folder(own); !s.ok())
    return Status(s.kind(), "no place to keep this machine's measurements: set XDG_CACHE_HOME or TMPDIR: " + s.text());
  return own + "/platform.json";
}

// Of a machine of which nothing is known.
model::Platform unknown_machine() {
  model::Platform none;
  none.machine = model::this_machine();
  none.quick = true;
  none.unlisted = true;
  return none;
}

}  // namespace

Result<std::optional<FoundProfile>> find_profile(const std::string& given, const std::string& app,
                                                 const std::string& binary) {
  if (!given.empty()) {
    Result<FoundProfile> found = read_profile(given);
    if (!found) return found.status();
    return std::optional<FoundProfile>(std::move(*found));
  }
  const std::string build_id = build_id_of_file(binary);
  std::string paths[] = {file_name(app) + ".gprofile", file_name(binary) + ".gprofile",
                         build_id.empty() ? std::string() : kept_profile_path(build_id)};
  for (const std::string& path : paths) {
    if (path.empty() || ::access(path.c_str(), F_OK) != 0) continue;
    Result<FoundProfile> found = read_profile(path);
    if (found) return std::optional<FoundProfile>(std::move(*found));
    fmt::print(stderr, "goptimize: ignoring a profile: {}\n", found.status().text());
  }
  return std::optional<FoundProfile>();
}

bool made_for_another(const model::Profile& profile, const std::string& binary) {
  const std::string here = build_id_of_file(binary);
  return !profile.build_id.empty() && !here.empty() && profile.build_id != here;
}

Result<FoundPlatform> find_platform(const std::string& given, bool measures) {
  if (!given.empty()) {
    // The user named this very file: that it cannot be read, or is another machine's, is bad input.
    Result<model::Platform> platform = model::read_platform_of_here(given);
    if (!platform) return Status(Kind::Corrupt, platform.status().text());
    return FoundPlatform{std::move(*platform), given, false};
  }
  const Result<std::string> place = writable_cache_path();
  if (!place) return place.status();
  Result<model::Platform> platform = model::read_platform_of_here(*place);
  if (!platform && platform.status().kind() != Kind::System)
    fmt::print(stderr, "goptimize: {}\n", platform.status().text());
  if (!platform && !measures)
    return Status(Kind::Unsupported, "this machine was never measured (gmicrobench platform)");
  FoundPlatform found{platform ? std::move(*platform) : unknown_machine(), *place, false};
  found.asks = measures && may_be_incomplete(found.platform, model::seconds_now());
  if (found.platform.devices.empty() && !found.asks)
    return Status(Kind::Unsupported, found.platform.failed.empty()
                                         ? "no device of this machine was measured (gmicrobench platform)"
                                         : failure_text(found.platform) + next_try_text(found.platform));
  return found;
}

FoundPlatform cached_platform() {
  const Result<std::string> place = writable_cache_path();
  if (!place) return {};
  Result<model::Platform> platform = model::read_platform_of_here(*place);
  return {platform ? std::move(*platform) : model::Platform(), *place, false};
}

size_t add_devices(model::Platform& platform, const std::string& path) {
  const size_t before = platform.devices.size();
  Result<model::Platform> now = model::read_platform_of_here(path);
  if (!now) return 0;
  std::vector<model::DeviceCosts> devices = std::move(platform.devices);
  for (model::DeviceCosts& d : now->devices)
    if (std::ranges::none_of(devices, [&](const auto& k) { return name_of(k) == name_of(d); }))
      devices.push_back(std::move(d));
  platform = std::move(*now);
  platform.devices = std::move(devices);
  return platform.devices.size() - before;
}

void leave_shared_memory_alone(model::Platform& platform) {
  for (model::DeviceCosts& d : platform.devices) {
    if (d.type != model::DeviceType::Cpu && !d.host_unified.value_or(false)) continue;
    d.staged.reset();
    if (d.svm) d.svm->staged.reset();
  }
}

}  // namespace gt::opt
