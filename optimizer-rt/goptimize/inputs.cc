// Finding the profile and the platform file.
#include "optimizer-rt/goptimize/inputs.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/measuring.h"
#include "optimizer-rt/goptimize/private_folder.h"
#include "traces/base/build_id.h"
#include "traces/base/text_file.h"
#include "traces/model/profile_sites.h"

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

// `why` the cached file could not be read.
Result<model::Platform> measured_first(const Status& why, const std::string& path, std::chrono::seconds limit) {
  if (why.kind() != Kind::System) fmt::print(stderr, "goptimize: {}\n", why.text());
  if (limit.count() == 0) return Status(Kind::Unsupported, "this machine was never measured (gmicrobench platform)");
  fmt::print(stderr, "goptimize: measuring this machine once, for about 10 s (gmicrobench platform --quick)\n");
  GT_TRY(measure(path, limit));
  return model::read_platform_of_here(path);
}

// What failed long ago is tried once more. That it was tried is written down first: however that ends, it is not tried
// with every run.
model::Platform measured_again(model::Platform platform, const std::string& path, std::chrono::seconds limit) {
  if (limit.count() == 0 || !due_again(platform, model::seconds_now())) return platform;
  fmt::print(stderr, "goptimize: {}; trying it again (gmicrobench platform --quick --missing)\n",
             failure_text(platform));
  model::Platform tried = platform;
  for (model::FailedDevice& f : tried.failed) f.time_s = model::seconds_now();
  Status status = write_within_limit(tried, path);
  if (status.ok()) status = measure(path, limit);
  if (!status.ok()) fmt::print(stderr, "goptimize: {}\n", status.text());
  Result<model::Platform> now = model::read_platform_of_here(path);
  return now ? std::move(*now) : platform;
}

Status nothing_measured(const model::Platform& platform) {
  const char* next = was_given_up(platform) ? " (given up: gmicrobench platform tries it again)"
                                            : " (tried again after a day, or by gmicrobench platform)";
  return {Kind::Unsupported, failure_text(platform) + next};
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

Result<model::Platform> find_platform(const std::string& given, std::chrono::seconds limit) {
  if (!given.empty()) {
    // The user named this very file: that it cannot be read, or is another machine's, is bad input.
    Result<model::Platform> platform = model::read_platform_of_here(given);
    return platform ? std::move(platform) : Status(Kind::Corrupt, platform.status().text());
  }
  const Result<std::string> place = writable_cache_path();
  if (!place) return place.status();
  Result<model::Platform> platform = model::read_platform_of_here(*place);
  platform = platform ? measured_again(std::move(*platform), *place, limit)
                      : measured_first(platform.status(), *place, limit);
  if (platform && platform->devices.empty()) return nothing_measured(*platform);
  return platform;
}

model::Platform cached_platform() {
  const Result<std::string> place = writable_cache_path();
  if (!place) return {};
  Result<model::Platform> platform = model::read_platform_of_here(*place);
  return platform ? std::move(*platform) : model::Platform();
}

void leave_shared_memory_alone(model::Platform& platform) {
  for (model::DeviceCosts& d : platform.devices) {
    if (d.type != model::DeviceType::Cpu && !d.host_unified.value_or(false)) continue;
    d.staged.reset();
    if (d.svm) d.svm->staged.reset();
  }
}

}  // namespace gt::opt
