#include "transport/gproxy/chunk_stores.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "transport/gproxy/log.h"
#include "transport/link/hello/sha256.h"

namespace gt::proxy {
namespace {

namespace fs = std::filesystem;
constexpr const char* Suffix = ".chunks";

}  // namespace

Status ChunkStores::open() {
  if (bytes_ == 0 || folder_.empty()) return {};
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return system_error("--store-dir " + folder_, errno);
  struct stat about {};
  if (::stat(folder_.c_str(), &about) != 0) return system_error("--store-dir " + folder_, errno);
  if (!S_ISDIR(about.st_mode)) return {Kind::Invalid, "--store-dir " + folder_ + ": not a folder"};
  if (about.st_uid == ::geteuid() && (about.st_mode & 077) == 0) return {};
  return {Kind::Invalid, fmt::format("--store-dir {}: others may look into it, and it would hold what clients sent: "
                                     "chmod 700 it, or name another folder", folder_)};
}

Fd ChunkStores::of(const chunks::Owner& owner) {
  if (bytes_ == 0) return {};
  return folder_.empty() ? in_memory(owner) : in_folder(owner);
}

// A file of its own for each worker, over the same memory: none moves another's position or locks.
Fd ChunkStores::in_memory(const chunks::Owner& owner) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const InMemory& m) { return m.owner == owner; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    Fd file(::memfd_create("gproxy chunks", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const bool made = file.open() && ::ftruncate(file.get(), static_cast<off_t>(bytes_)) == 0 &&
                      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
    if (!made) return log("chunks are not kept: {}", system_error("memory for them", errno).text()), Fd();
    kept_.push_front({owner, std::move(file)});
    if (kept_.size() > MostOwners) kept_.pop_back();
  }
  const std::string path = fmt::format("/proc/self/fd/{}", kept_.front().file.get());
  return Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

Fd ChunkStores::in_folder(const chunks::Owner& owner) {
  const std::string path = folder_ + "/" + wire::hex_text(owner) + Suffix;
  Result<Fd> file = open_file(path);
  if (!file) return log("chunks are not kept: {}", file.status().text()), Fd();
  leave_room();
  return std::move(*file);
}

// One of another size is of another --store: it goes.
Result<Fd> ChunkStores::open_file(const std::string& path) {
  constexpr int Flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Fd file(::open(path.c_str(), Flags));
  struct stat about {};
  const bool sound = file.open() && ::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode) &&
                     about.st_uid == ::geteuid() && static_cast<uint64_t>(about.st_size) == bytes_;
  if (sound) {
    ::futimens(file.get(), nullptr);  // the time tells which was asked for last
    return file;
  }
  ::unlink(path.c_str());
  Fd made(::open(path.c_str(), Flags | O_CREAT | O_EXCL, 0600));
  if (!made.open() || ::ftruncate(made.get(), static_cast<off_t>(bytes_)) != 0) return system_error(path, errno);
  return made;
}

void ChunkStores::leave_room() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    std::error_code none;
    if (entry.path().extension() == Suffix) files.emplace_back(entry.last_write_time(none), entry.path());
  }
  std::sort(files.rbegin(), files.rend());
  for (size_t i = MostOwners; i < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace gt::proxy
