// Writing and reading profile files.
#include "analyzer/profile_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "traces/base/fd.h"

namespace gt::analyzer {
namespace {

Status write_file(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error(path, errno);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, errno);
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace

std::string profile_path(const std::string& trace, const std::string& program_name) {
  const size_t slash = trace.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : trace.substr(0, slash + 1);
  return folder + program_name + ".gprofile";
}

std::string profile_copy_path(const std::string& build_id) {
  if (build_id.empty()) return {};
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  std::string base;
  if (data && *data) {
    base = data;
  } else if (home && *home) {
    base = std::string(home) + "/.local/share";
  } else {
    return {};
  }
  return base + "/gtrace/profiles/" + build_id + ".gprofile";
}

Status write_profile(const model::Profile& profile, const std::string& path, bool make_folders) {
  std::error_code ignored;  // the open below says what is wrong
  if (make_folders) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  const std::string part = path + ".part" + std::to_string(::getpid());
  Status status = write_file(part, model::format_profile(profile));
  if (status.ok() && ::rename(part.c_str(), path.c_str()) != 0) status = system_error(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

Result<model::Profile> read_profile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || (in.peek() != EOF && !(text << in.rdbuf()))) {
    return Status(Kind::Corrupt, path + ": cannot be read");
  }
  return model::parse_profile(text.str(), path);
}

}  // namespace gt::analyzer
