// The token file: made at the first start, whole or not at all.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "traces/base/bytes.h"
#include "transport/gproxy/serve.h"
#include "transport/link/hello/credentials.h"

namespace gt::proxy {
namespace {

namespace fs = std::filesystem;

Status make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  fs::create_directories(folder.parent_path(), error);
  if (!error && fs::create_directory(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  return error ? system_error("cannot make the folder " + folder.string(), error.value()) : Status();
}

}  // namespace

std::string default_token_file() {
  const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  if (config && *config) return std::string(config) + "/gtrace/token";
  return home && *home ? std::string(home) + "/.config/gtrace/token" : std::string();
}

Result<bool> have_token(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) {
    const Result<Bytes> token = wire::read_token(path);
    return token ? Result<bool>(false) : token.status();
  }
  GT_TRY(make_private_folder(fs::path(path).parent_path()));
  const std::string fresh = fmt::format("{}.{}", path, ::getpid());
  Result<Bytes> made = wire::make_token(fresh);
  const bool first = made && ::link(fresh.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::unlink(fresh.c_str());
  if (!made) return made.status();
  if (!first && error != EEXIST) return system_error("cannot make the token file " + path, error);
  return first ? Result<bool>(true) : have_token(path);  // another gproxy was faster
}

}  // namespace gt::proxy
