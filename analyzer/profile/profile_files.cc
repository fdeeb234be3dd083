// Writing and reading profile files.
#include "analyzer/profile/profile_files.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "traces/base/text_file.h"
#include "traces/base/whole_file.h"

namespace gt::analyzer {
namespace {

constexpr size_t MostBytes = 16 << 20;

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
  std::error_code ignored;  // writing says what is wrong
  if (make_folders) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  return write_whole_file(path, model::format_profile(profile));
}

void keep_copy(const model::Profile& profile) {
  const std::string copy = profile_copy_path(profile.build_id);
  if (copy.empty()) return;
  // A run that failed early has nothing to say; what an earlier one said stays.
  std::error_code error;
  if (profile.sites.empty() && std::filesystem::exists(copy, error)) return;
  const Status status = write_profile(profile, copy, true);
  if (status.ok()) return;
  std::fprintf(stderr, "ganalyze: warning: no copy of the profile: %s\n", status.text().c_str());
}

Result<model::Profile> read_profile(const std::string& path) {
  const Result<std::string> text = read_text_file(path, MostBytes, "a profile");
  return text ? model::parse_profile(*text, path) : text.status();
}

}  // namespace gt::analyzer
