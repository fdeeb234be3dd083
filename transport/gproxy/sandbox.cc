#include "transport/gproxy/sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "traces/base/fd.h"

namespace gt::proxy {
namespace {

namespace fs = std::filesystem;

// --- The kernel's interface (linux/landlock.h, which older systems lack or have less of)
constexpr long CreateRuleset = 444, AddRule = 445, RestrictSelf = 446;
constexpr uint32_t AskVersion = 1, PathBeneath = 1;
struct Ruleset {
  uint64_t handled = 0;
};
struct __attribute__((packed)) PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};
constexpr uint64_t Execute = 1, WriteFile = 2, ReadFile = 4, ReadFolder = 8;
constexpr uint64_t FirstVersion = (1 << 13) - 1;  // these and others
constexpr uint64_t Refer = 1 << 13, Truncate = 1 << 14, DeviceControl = 1 << 15;
constexpr uint64_t OfFiles = Execute | WriteFile | ReadFile | Truncate | DeviceControl;
constexpr uint64_t ToRead = Execute | ReadFile | ReadFolder;

long version() { return ::syscall(CreateRuleset, nullptr, 0, AskVersion); }

uint64_t rights_of(long version) {
  return FirstVersion | (version >= 2) * Refer | (version >= 3) * Truncate | (version >= 5) * DeviceControl;
}

Status allow(int ruleset, const std::string& path, uint64_t rights) {
  const Fd parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat about {};
  if (!parent.open() || ::fstat(parent.get(), &about) != 0) return {};  // it is not there, or not for us anyway
  const PathRule rule{S_ISDIR(about.st_mode) ? rights : rights & OfFiles, parent.get()};
  if (::syscall(AddRule, ruleset, PathBeneath, &rule, 0) != 0) return system_error("sandbox: " + path, errno);
  return {};
}

// --- What drivers need
constexpr const char* SystemFolders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sys",
                                         "/proc", "/nix/store", "/gnu/store", "/run/nvidia", "/run/opengl-driver"};
// Of /etc also files that everybody may read; other folders there hold secrets, keys of TLS for one.
constexpr const char* EtcFolders[] = {"OpenCL", "alternatives", "ld.so.conf.d", "nvidia", "pocl", "vulkan", "glvnd",
                                      "intel", "rocm", "amd"};
constexpr const char* Devices[] = {"nvidia", "dri", "kfd", "accel", "mali", "kgsl", "dxg", "infiniband", "dma_heap",
                                   "udmabuf", "null", "zero", "full", "random", "urandom"};
constexpr const char* Variables[] = {"OCL_", "OPENCL_", "POCL_", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "CUDA_", "ROCM_",
                                     "HSA_", "NEO_", "LLVM_"};

// Where drivers keep what they compiled: in the variable's folder, or in `path` of the user's (home or cache folder).
struct Cache {
  const char *platform, *variable, *path;
  bool at_home = false;
};
constexpr Cache Caches[] = {{"Portable Computing Language", "POCL_CACHE_DIR", "pocl"},
                            {"NVIDIA", "CUDA_CACHE_PATH", ".nv/ComputeCache", true},
                            {"Intel", "NEO_CACHE_DIR", "neo_compiler_cache"},
                            {"AMD", "AMD_COMGR_CACHE_DIR", "comgr"},
                            {"rusticl", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"}};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

std::string folder_of(const Cache& cache) {
  if (const std::string named = variable(cache.variable); !named.empty()) return named;
  const std::string home = variable("HOME"), caches = variable("XDG_CACHE_HOME");
  if (!cache.at_home && !caches.empty()) return caches + "/" + cache.path;
  if (home.empty()) return {};
  return home + (cache.at_home ? "/" : "/.cache/") + cache.path;
}

template <class Names>
bool begins_with_one_of(std::string_view text, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return text.starts_with(name); });
}

// Not the home folder, nor what it lies in.
void add(std::vector<std::string>& paths, const fs::path& path) {
  const std::string wanted = path.lexically_normal().string(), home = variable("HOME") + "/";
  const bool holds_home = wanted == "/" || home.starts_with(wanted.ends_with('/') ? wanted : wanted + "/");
  if (path.is_absolute() && !holds_home) paths.push_back(wanted);
}

void add_etc(std::vector<std::string>& paths) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc", error)) {
    struct stat about {};
    if (::stat(entry.path().c_str(), &about) != 0) continue;
    const bool public_file = S_ISREG(about.st_mode) && (about.st_mode & S_IROTH);
    const bool drivers = S_ISDIR(about.st_mode) && begins_with_one_of(entry.path().filename().native(), EtcFolders);
    if (public_file || drivers) paths.push_back(entry.path());
  }
}

void add_devices(std::vector<std::string>& paths) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    if (begins_with_one_of(entry.path().filename().native(), Devices)) paths.push_back(entry.path());
  }
}

// What variables of loaders and drivers name.
void add_named(std::vector<std::string>& paths) {
  for (char** v = environ; *v; ++v) {
    const std::string_view text = *v;
    if (!begins_with_one_of(text, Variables)) continue;
    for (size_t at = text.find('=') + 1; at < text.size();) {
      const size_t end = std::min(text.find_first_of(":,;", at), text.size());
      add(paths, fs::path(text.substr(at, end - at)));
      at = end + 1;
    }
  }
}

// A driver that is not the system's brings along what lies beside it: PREFIX/lib, PREFIX/share, PREFIX/etc.
void add_driver(std::vector<std::string>& paths, const fs::path& library) {
  const fs::path folder = library.parent_path();
  add(paths, folder);
  if (!folder.filename().native().starts_with("lib")) return;
  for (const char* beside : {"share", "etc", "bin"}) add(paths, folder.parent_path() / beside);
}

}  // namespace

Status sandbox_available() {
  return version() >= 1 ? Status() : Status(Kind::Unsupported, "this kernel has no Landlock");
}

void make_cache_folders(const std::vector<DeviceFacts>& devices) {
  for (const Cache& cache : Caches) {
    const bool used = std::any_of(devices.begin(), devices.end(), [&](const DeviceFacts& d) {
      return d.platform.find(cache.platform) != std::string::npos;
    });
    std::error_code ignored;
    if (used && !folder_of(cache).empty()) fs::create_directories(folder_of(cache), ignored);
  }
}

Sandbox worker_sandbox(const std::vector<std::string>& drivers, const std::string& temporary) {
  Sandbox s;
  s.reads.assign(std::begin(SystemFolders), std::end(SystemFolders));
  add_etc(s.reads);
  add_named(s.reads);
  for (const std::string& driver : drivers) add_driver(s.reads, driver);
  s.writes = {temporary, "/proc/self/task"};  // there: names of threads
  add_devices(s.writes);
  for (const Cache& cache : Caches) add(s.writes, folder_of(cache));
  return s;
}

Status enter_sandbox(const Sandbox& sandbox) {
  const Ruleset wanted{rights_of(version())};
  const Fd ruleset(static_cast<int>(::syscall(CreateRuleset, &wanted, sizeof wanted, 0)));
  if (!ruleset.open()) return system_error("sandbox", errno);
  for (const std::string& path : sandbox.reads) GT_TRY(allow(ruleset.get(), path, ToRead & wanted.handled));
  for (const std::string& path : sandbox.writes) GT_TRY(allow(ruleset.get(), path, wanted.handled));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(RestrictSelf, ruleset.get(), 0) != 0)
    return system_error("sandbox", errno);
  return {};
}

}  // namespace gt::proxy
