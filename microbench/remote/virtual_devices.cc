#include "microbench/remote/virtual_devices.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace gt::bench {
namespace {

constexpr const char* LibraryName = "libgtrace-remote.so";

// Where it was built, or installed.
Result<void*> open_library(const std::string& tools_folder) {
  const std::filesystem::path prefix = std::filesystem::path(tools_folder).parent_path();
  std::error_code ignored;
  for (const char* const folder : {"lib", GT_LIBDIR, "lib64"}) {
    const std::filesystem::path path = prefix / folder / "gtrace" / LibraryName;
    if (!std::filesystem::exists(path, ignored)) continue;
    if (void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    return Status(Kind::Unsupported, ::dlerror());
  }
  return Status(Kind::Unsupported, fmt::format("lib/gtrace/{} is not in {}", LibraryName, prefix.string()));
}

}  // namespace

Result<std::vector<Device>> list_remote_devices(const std::string& tools_folder, const RemoteSettings& settings) {
  const std::pair<const char*, const std::string&> variables[] = {{"GTRACE_REMOTE", settings.urls},
                                                                  {"GTRACE_TOKEN_FILE", settings.token_file},
                                                                  {"GTRACE_CERT", settings.cert},
                                                                  {"GTRACE_KEY", settings.key},
                                                                  {"GTRACE_CA", settings.ca}};
  for (const auto& [name, value] : variables)
    if (!value.empty()) ::setenv(name, value.c_str(), 1);
  const Result<void*> library = open_library(tools_folder);
  if (!library) return library.status();
  using GetPlatforms = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto get = reinterpret_cast<GetPlatforms>(::dlsym(*library, "clIcdGetPlatformIDsKHR"));
  cl_platform_id platform = nullptr;
  if (!get || get(1, &platform, nullptr) != CL_SUCCESS || !platform)
    return Status(Kind::Unsupported, "there is no remote device at " + settings.urls);
  std::vector<Device> out;
  list_of_platform(platform, out);
  for (Device& d : out) d.platform_id = nullptr;  // loaders refuse platforms that are not in their list
  return out;
}

}  // namespace gt::bench
