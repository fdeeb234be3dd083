// Writing and reading profile files.
#include "analyzer/profile_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "traces/base/fd.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostBytes = 16 << 20;

// Closing tells of errors that writing did not (quotas, network file systems).
Status write_file(const std::string& path, const std::string& text) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error(path, errno);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, errno);
    done += static_cast<size_t>(n);
  }
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) return system_error(path, errno);
  return {};
}

// Devices and pipes are written to, never replaced.
bool is_replaceable(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) != 0 || S_ISREG(st.st_mode);
}

// Where a link leads, so that the file is replaced and not the link.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
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
  const std::string text = model::format_profile(profile);
  if (!is_replaceable(path)) return write_file(path, text);
  const std::string target = behind_links(path), part = target + ".part" + std::to_string(::getpid());
  Status status = write_file(part, text);
  if (!status.ok()) status = Status(status.kind(), system_error(path, status.code()).text(), status.code());
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) status = system_error(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

void keep_copy(const model::Profile& profile) {
  const std::string copy = profile_copy_path(profile.build_id);
  if (copy.empty()) return;
  const Status status = write_profile(profile, copy, true);
  if (status.ok()) return;
  std::fprintf(stderr, "ganalyze: warning: no copy of the profile: %s\n", status.text().c_str());
}

Result<model::Profile> read_profile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Status(Kind::Corrupt, path + ": is a folder, not a profile");
  std::ifstream in(path, std::ios::binary);
  if (!in) return system_error(path, errno);
  std::string text;
  for (char part[1 << 14]; text.size() <= MostBytes && in; text.append(part, static_cast<size_t>(in.gcount()))) {
    in.read(part, sizeof part);
  }
  if (text.size() > MostBytes) return Status(Kind::Corrupt, path + ": too large for a profile");
  return model::parse_profile(text, path);
}

}  // namespace gt::analyzer
