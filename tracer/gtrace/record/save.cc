#include "tracer/gtrace/record/save.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "traces/contents/content_file.h"
#include "traces/store/trace_db.h"

namespace gt::tracer {

namespace fs = std::filesystem;

namespace {

std::string directory_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// While one exists, no other recording moves files in the directory. File systems without locks go without.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory)
      : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (fd_.open() && flock(fd_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

 private:
  Fd fd_;
};

}  // namespace

Status check_writable(const std::string& path) {
  const fs::path target(path);
  std::error_code error;
  if (fs::is_directory(target, error)) {
    return Status(Kind::Invalid, path + " is a directory: give -o a file name");
  }
  const std::string directory = directory_of(path);
  if (!fs::is_directory(directory, error)) {
    return Status(Kind::Invalid, fmt::format("{}: no such directory (make it, or give -o another file)", directory));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return Status(Kind::System,
                  fmt::format("cannot write {} in {}: {} (use -o FILE in a directory of yours)",
                              target.filename().string(), directory, std::strerror(errno)),
                  errno);
  }
  return {};
}

namespace {

std::vector<std::string> second_choices(const std::string& path) {
  std::vector<std::string> directories;
  if (const char* data = std::getenv("XDG_DATA_HOME")) directories.push_back(std::string(data) + "/gtrace");
  if (const char* home = std::getenv("HOME")) directories.push_back(std::string(home) + "/.local/share/gtrace");
  const char* tmp = std::getenv("TMPDIR");
  directories.emplace_back(tmp ? tmp : "/tmp");
  directories.emplace_back("/dev/shm");
  const std::string name =
      fmt::format("{}-{}{}", fs::path(path).stem().string(), getpid(), fs::path(path).extension().string());
  for (std::string& d : directories) {
    std::error_code error;
    fs::create_directories(d, error);
    d += "/" + name;
  }
  return directories;
}

std::string staged_by(const std::string& path, int pid) {
  return fmt::format("{}/.{}-{}", directory_of(path), fs::path(path).filename().string(), pid);
}

constexpr const char* StagedContents = ".contents";

}  // namespace

TraceFile::TraceFile(std::string wanted) : path_(std::move(wanted)), staged_(staged_by(path_, getpid())) {}

TraceFile::~TraceFile() {
  unlink(staged_.c_str());
  if (!staged_contents_.empty() && !contents_placed_) unlink(staged_contents_.c_str());
}

const std::string& TraceFile::stage_contents() {
  staged_contents_ = staged_ + StagedContents;
  unlink(staged_contents_.c_str());  // of a process with our number, which was killed
  return staged_contents_;
}

std::string TraceFile::spill_path() const {
  std::error_code error;
  return fs::absolute(staged_ + ".spill", error).string();
}

std::string TraceFile::contents_path() const {
  if (staged_contents_.empty()) return {};
  return contents_placed_ ? contents::path_beside(path_) : staged_contents_;
}

// REQUIRES: nothing is in their way. They are written on where they lie.
Status TraceFile::place_contents() {
  if (staged_contents_.empty() || contents_placed_) return {};
  const std::string there = contents::path_beside(path_);
  if (std::rename(staged_contents_.c_str(), there.c_str()) != 0) return system_error("cannot write " + there, errno);
  contents_placed_ = true;
  return {};
}

// Their trace goes elsewhere, but they are where they were wanted.
void TraceFile::leave_contents() {
  if (staged_contents_.empty() || contents_placed_) return;
  const DirectoryLock lock(directory_of(path_));
  if (store::keep_older(path_).ok()) (void)place_contents();
}

Status TraceFile::stage(const model::Trace& trace) const {
  const Status s = store::write_trace(staged_, trace);
  if (s.ok() || s.text().rfind(staged_, 0) != 0) return s;
  return Status(s.kind(), path_ + s.text().substr(staged_.size()), s.code());
}

void TraceFile::discard_contents_by(int pid) const { unlink((staged_by(path_, pid) + StagedContents).c_str()); }

void TraceFile::discard_staged_by(int pid) const { unlink(fmt::format("{}.tmp-{}", staged_, pid).c_str()); }

bool TraceFile::is_ours(const std::string& path) const {
  struct stat ours {
  }, there{};
  return placed_.open() && fstat(placed_.get(), &ours) == 0 && stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

// Where ours lies now; "" when nowhere in its directory.
std::string TraceFile::find() const {
  if (is_ours(path_)) return path_;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_of(path_), error)) {
    if (placed_.open() && is_ours(entry.path().string())) return entry.path().string();
  }
  return {};
}

Status TraceFile::place() {
  const DirectoryLock lock(directory_of(path_));
  if (const std::string here = find(); !here.empty()) {
    path_ = here;
  } else {
    GT_TRY(store::keep_older(path_));
  }
  GT_TRY(place_contents());
  if (std::rename(staged_.c_str(), path_.c_str()) != 0) return system_error("cannot write " + path_, errno);
  placed_ = Fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  return {};
}

Result<std::string> TraceFile::save(const model::Trace& trace, Status& trouble) {
  trouble = stage(trace);
  if (trouble.ok()) trouble = place();
  if (trouble.ok()) return path_;
  leave_contents();
  for (const std::string& other : second_choices(path_)) {
    if (store::write_trace(other, trace).ok()) return other;
  }
  return trouble;
}

}  // namespace gt::tracer
