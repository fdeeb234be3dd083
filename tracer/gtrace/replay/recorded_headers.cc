#include "tracer/gtrace/replay/recorded_headers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "traces/api/option_words.h"
#include "traces/base/whole_file.h"
#include "traces/contents/content_file.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t MostBytes = 64 << 20;  // of one file, as the recorder takes them

bool stays_inside(const fs::path& path) {
  if (!path.is_absolute() || !path.has_filename() || path.string().find('\0') != std::string::npos) return false;
  for (const fs::path& part : path)
    if (part == "..") return false;
  return true;
}

bool needs_quotes(std::string_view word) { return word.find_first_of(" \t'\"\\") != word.npos; }

// Nobody else may write there, and nobody replays with it: then it was left by who was killed.
bool take(const std::string& path, Fd& lock) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat is {};
  if (!folder.open() || ::fstat(folder.get(), &is) != 0) return false;
  if (is.st_uid != ::geteuid() || (is.st_mode & 0077) != 0) return false;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return false;
  lock = std::move(folder);
  return true;
}

}  // namespace

RecordedHeaders::RecordedHeaders(const contents::ContentReader& reader, const model::Trace& trace, uint32_t process)
    : reader_(reader), process_(process), working_folder_(trace.fact(fmt::format("folder.{}", process))) {
  Bytes all;
  for (const contents::UsedFile& file : reader.files()) {
    if (file.process != process) continue;
    files_.push_back(file);
    const std::string line = fmt::format("{} {}\n", file.path, reader.size_of(process, file.number));
    all.insert(all.end(), line.begin(), line.end());
  }
  hash_ = contents::hash_of(all).low;
}

Status RecordedHeaders::write_into(const std::string& folder) const {
  Bytes bytes;
  for (const contents::UsedFile& file : files_) {
    if (!stays_inside(file.path))
      return {Kind::Invalid, "the recording has an included file whose path leads elsewhere"};
    GT_TRY(reader_.read(process_, file.number, bytes, MostBytes));
    const fs::path to = fs::path(folder) / fs::path(file.path).relative_path();
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return {Kind::System, fmt::format("{}: {}", to.parent_path().string(), error.message()), error.value()};
    GT_TRY(write_whole_file(to, as_text(bytes)));
  }
  return {};
}

std::string RecordedHeaders::options(std::string_view recorded, const std::string& folder) const {
  const api::SplitOptions split = api::split_options(recorded.substr(0, recorded.find('\0')));
  std::string out;
  const auto include = [&](const fs::path& there) {
    const std::string here = (fs::path(folder) / (fs::path("/") / there).lexically_normal().relative_path()).string();
    out += needs_quotes(here) ? fmt::format("-I \"{}\" ", here) : fmt::format("-I {} ", here);
  };
  for (const std::string& given : split.include_folders) include(fs::path(working_folder_) / given);
  include(working_folder_);
  return out + split.others;
}

Status HeaderFolder::fill(const RecordedHeaders& headers) {
  std::error_code error;
  const std::string start = (fs::temp_directory_path(error) / "gtrace-replay-").string();
  if (error) return {Kind::System, fmt::format("no folder for temporary files: {}", error.message()), error.value()};
  const std::string wanted = fmt::format("{}{:016x}", start, headers.hash());
  (void)::mkdir(wanted.c_str(), S_IRWXU);
  if (take(wanted, lock_)) {
    path_ = wanted;
    for (const auto& left : fs::directory_iterator(wanted, error)) fs::remove_all(left.path(), error);
  } else {
    std::string other = start + "XXXXXX";
    if (!::mkdtemp(other.data())) return system_error(fmt::format("{}: mkdtemp", other), errno);
    path_ = other;
  }
  return headers.write_into(path_);
}

HeaderFolder::~HeaderFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace gt::tracer
