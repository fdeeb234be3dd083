#include "traces/sandbox/driver_sandbox.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

namespace gt {
namespace {

namespace fs = std::filesystem;

constexpr const char* SystemFolders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/sys",
                                         "/proc", "/nix/store", "/gnu/store", "/run/nvidia", "/run/opengl-driver"};
// Of /etc also files that everybody may read; other folders there hold secrets, keys of TLS for one.
constexpr const char* EtcFolders[] = {"OpenCL", "alternatives", "ld.so.conf.d", "nvidia", "pocl", "vulkan", "glvnd",
                                      "intel", "rocm", "amd"};
constexpr const char* Devices[] = {"nvidia", "dri", "kfd", "accel", "mali", "kgsl", "dxg", "infiniband", "dma_heap",
                                   "udmabuf", "null", "zero", "full", "random", "urandom"};
constexpr const char* Variables[] = {"OCL_", "OPENCL_", "POCL_", "LD_LIBRARY_PATH=", "LD_PRELOAD=", "CUDA_", "ROCM_",
                                     "HSA_", "NEO_", "LLVM_", "OCLGRIND_"};

// Where drivers keep what they compiled: in the variable's folder, or in `path` of the user's (home or cache folder).
struct Cache {
  const char *platform, *library;  // a part of its name
  const char *variable, *path;
  bool at_home = false;
};
constexpr Cache Caches[] = {{"Portable Computing Language", "libpocl", "POCL_CACHE_DIR", "pocl"},
                            {"NVIDIA", "nvidia-opencl", "CUDA_CACHE_PATH", ".nv/ComputeCache", true},
                            {"Intel", "libigdrcl", "NEO_CACHE_DIR", "neo_compiler_cache"},
                            {"AMD", "amdocl", "AMD_COMGR_CACHE_DIR", "comgr"},
                            {"rusticl", "RusticlOpenCL", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"}};

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

bool begins_with_one_of(std::string_view text, std::span<const char* const> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return text.starts_with(name); });
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

// A driver that is not the system's brings along what lies beside it: PREFIX/lib, PREFIX/share, PREFIX/etc.
void add_driver(std::vector<std::string>& paths, const fs::path& library) {
  const fs::path folder = library.parent_path();
  add(paths, folder);
  if (!folder.filename().native().starts_with("lib")) return;
  for (const char* beside : {"share", "etc", "bin"}) add(paths, folder.parent_path() / beside);
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

void add_vendors(const fs::path& place, std::vector<Driver>& drivers) {
  std::error_code error;
  std::vector<fs::path> files;
  if (fs::is_directory(place, error)) {
    for (const auto& entry : fs::directory_iterator(place, error)) files.push_back(entry.path());
  } else {
    files.push_back(place);
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (file.extension() == ".icd") drivers.push_back({file.string(), first_line(file)});
    if (file.extension() == ".so") drivers.push_back({file.string(), file.string()});
  }
}

}  // namespace

std::vector<Driver> installed_drivers() {
  const char *vendors = std::getenv("OCL_ICD_VENDORS"), *libraries = std::getenv("OCL_ICD_FILENAMES");
  std::vector<Driver> drivers;
  add_vendors(vendors && *vendors ? vendors : "/etc/OpenCL/vendors", drivers);
  std::istringstream words(libraries ? libraries : "");
  for (std::string word; std::getline(words, word, ':');) drivers.push_back({word, word});
  return drivers;
}

std::vector<std::string> driver_libraries() {
  std::vector<std::string> libraries;
  for (Driver& driver : installed_drivers()) libraries.push_back(std::move(driver.library));
  return libraries;
}

void make_cache_folders(const std::vector<std::string>& names) {
  for (const Cache& cache : Caches) {
    const bool used = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(cache.platform) != std::string::npos || name.find(cache.library) != std::string::npos;
    });
    std::error_code ignored;
    if (used && !folder_of(cache).empty()) fs::create_directories(folder_of(cache), ignored);
  }
}

void add_named_paths(std::vector<std::string>& paths, std::span<const char* const> prefixes) {
  for (char** v = environ; *v; ++v) {
    const std::string_view text = *v;
    if (!begins_with_one_of(text, prefixes)) continue;
    for (size_t at = text.find('=') + 1; at < text.size();) {
      const size_t end = std::min(text.find_first_of(":,;", at), text.size());
      add(paths, fs::path(text.substr(at, end - at)));
      at = end + 1;
    }
  }
}

Sandbox driver_sandbox(const std::vector<std::string>& libraries, const std::string& temporary) {
  Sandbox s;
  s.reads.assign(std::begin(SystemFolders), std::end(SystemFolders));
  add_etc(s.reads);
  add_named_paths(s.reads, Variables);
  for (const std::string& library : libraries) add_driver(s.reads, library);
  s.writes = {temporary, "/proc/self/task"};  // there: names of threads
  add_devices(s.writes);
  for (const Cache& cache : Caches) add(s.writes, folder_of(cache));
  return s;
}

}  // namespace gt
