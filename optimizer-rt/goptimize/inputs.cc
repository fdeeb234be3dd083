// Finding the profile and the platform file.
#include "optimizer-rt/goptimize/inputs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "optimizer-rt/goptimize/private_folder.h"
#include "traces/base/build_id.h"
#include "traces/model/profile_sites.h"

extern char** environ;

namespace gt::opt {
namespace {

constexpr size_t MaxProfileBytes = 16 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<FoundProfile> read_profile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status(Kind::Corrupt, path + ": is a folder, not a profile");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Status(Kind::Corrupt,
                  fmt::format("cannot read the profile {}: {}", path, std::strerror(errno)));
  std::string text;
  for (char part[1 << 14]; text.size() <= MaxProfileBytes && in;
       text.append(part, static_cast<size_t>(in.gcount())))
    in.read(part, sizeof part);
  if (text.size() > MaxProfileBytes)
    return Status(Kind::Corrupt, path + ": too large for a profile");
  Result<model::Profile> profile = model::parse_profile(text, path);
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

std::string sibling_program(const char* name) {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) return name;
  return (std::filesystem::path(std::string(path, static_cast<size_t>(n))).parent_path() / name)
      .string();
}

// Runs `gmicrobench platform --quick -o path`; its progress and errors go to our stderr.
Status measure(const std::string& path) {
  const std::string program = sibling_program("gmicrobench");
  std::string arguments[] = {program, "platform", "--quick", "-o", path};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = -1;
  const int err = ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (err != 0) return system_error("cannot start " + program, err);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Status(Kind::Unsupported, "the platform could not be measured");
}

Result<model::Platform> read_matching(const std::string& path) {
  Result<model::Platform> platform = model::read_platform(path);
  if (!platform) return platform.status();
  GT_TRY(model::matches_here(*platform, model::this_machine()).at(path));
  return platform;
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

Result<model::Platform> find_platform(const std::string& given) {
  if (!given.empty()) {
    // The user named this very file: that it cannot be read, or is another machine's, is bad input.
    Result<model::Platform> platform = read_matching(given);
    return platform ? std::move(platform) : Status(Kind::Corrupt, platform.status().text());
  }
  const Result<std::string> place = writable_cache_path();
  if (!place) return place.status();
  const std::string& path = *place;
  Result<model::Platform> platform = read_matching(path);
  if (platform) return platform;
  if (platform.status().kind() != Kind::System)
    fmt::print(stderr, "goptimize: {}\n", platform.status().text());
  fmt::print(
      stderr,
      "goptimize: measuring this machine once, for about 10 s (gmicrobench platform --quick)\n");
  GT_TRY(measure(path));
  return read_matching(path);
}

model::Platform cached_platform() {
  const Result<std::string> place = writable_cache_path();
  if (!place) return {};
  Result<model::Platform> platform = read_matching(*place);
  return platform ? std::move(*platform) : model::Platform();
}

void leave_shared_memory_alone(model::Platform& platform) {
  for (model::DeviceCosts& d : platform.devices)
    if (d.type == model::DeviceType::Cpu || d.host_unified.value_or(false)) d.staged.reset();
}

}  // namespace gt::opt
