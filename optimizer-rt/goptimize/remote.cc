// Options to variables.
#include "optimizer-rt/goptimize/remote.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "optimizer-rt/cl/usm.h"
#include "optimizer-rt/cl/virtual_platform.h"
#include "tracer/interpose/launch.h"

namespace gt::opt {
namespace {

constexpr const char* LibraryName = "libgtrace-remote.so";

// Beside the folder of the injected library.
Result<std::string> virtual_library() {
  const Result<std::string> injected = interpose::injected_library("opt");
  if (!injected) return injected.status();
  const std::string path = std::filesystem::path(*injected).parent_path().parent_path() / LibraryName;
  if (::access(path.c_str(), R_OK) != 0) return system_error("cannot read " + path, errno);
  return path;
}

// Programs may change their folder before they look for devices.
Status add_file(const Options& options, const std::string& name, const std::string& variable, Variables& out) {
  const std::string& path = options.text(name);
  if (path.empty()) return {};
  if (::access(path.c_str(), R_OK) != 0) return Status(Kind::Corrupt, "--" + name + " " + path + ": cannot be read");
  out.emplace_back(variable, std::filesystem::absolute(path).string());
  return {};
}

Status add_compression(const Options& options, Variables& out) {
  const std::string& text = options.text("compress");
  unsigned level = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), level);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  const bool is_level = is_number && level >= 1 && level <= 19;
  if (text != "auto" && text != "never" && !is_level)
    return Status(Kind::Invalid, "--compress " + text + ": auto, never, or a level of 1 to 19");
  out.emplace_back("GTRACE_COMPRESS", text);
  return {};
}

Status add_spread(Variables& out) {
  if (out.empty()) {
    const Result<std::string> library = virtual_library();
    if (!library) return library.status();
    out.emplace_back(VirtualLibraryVariable, *library);
  }
  out.emplace_back(SpreadVariable, "1");
  return {};
}

}  // namespace

Result<Variables> connection_variables(const Options& options) {
  Variables out;
  const std::string& urls = options.text("remote");
  if (urls.empty()) return out;
  const Result<std::string> library = virtual_library();
  if (!library) return library.status();
  out = {{VirtualLibraryVariable, *library}, {"GTRACE_REMOTE", urls}};
  const std::pair<const char*, const char*> files[] = {
      {"token-file", "GTRACE_TOKEN_FILE"}, {"cert", "GTRACE_CERT"}, {"key", "GTRACE_KEY"}, {"ca", "GTRACE_CA"}};
  for (const auto& [name, variable] : files) GT_TRY(add_file(options, name, variable, out));
  return out;
}

Result<Variables> run_variables(const Options& options) {
  Result<Variables> connection = connection_variables(options);
  if (!connection) return connection;
  Variables& out = *connection;
  if (options.flag("spread")) GT_TRY(add_spread(out));
  if (options.flag("emulate-usm")) out.emplace_back(EmulateUsmVariable, "1");
  if (options.text("remote").empty()) return connection;
  out.emplace_back(OrderVariable, options.text("order"));
  out.emplace_back(NamingVariable, options.text("platform-name"));
  if (!options.text("only").empty()) out.emplace_back(OnlyVariable, options.text("only"));
  out.emplace_back("GTRACE_DEDUP", options.text("dedup"));
  GT_TRY(add_compression(options, out));
  if (options.flag("sync-errors")) out.emplace_back("GTRACE_SYNC_ERRORS", "1");
  return connection;
}

}  // namespace gt::opt
