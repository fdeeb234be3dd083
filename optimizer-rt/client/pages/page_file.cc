#include "optimizer-rt/client/pages/page_file.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

constexpr size_t Page = 4096;
constinit Mutex g_mutex;

// What grows the file further would raise SIGXFSZ in the program.
bool may_grow_to(uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace

Result<FilePart> FilePart::take(size_t bytes) {
  static std::shared_ptr<File>* const current = new std::shared_ptr<File>;  // under g_mutex; never destroyed
  const MutexLock lock(g_mutex);
  if (!*current || (*current)->mark.in_child() || !(*current)->fd.is_ours()) {
    Fd low(::memfd_create("gtrace-shared-pages", MFD_CLOEXEC));
    if (!low.open()) return system_error("memory of pages shared with a device", errno);
    *current = std::make_shared<File>();
    (*current)->fd = OwnFd(high_fd(std::move(low)));
    if (!(*current)->fd.open()) return system_error("memory of pages shared with a device", errno);
  }
  File& file = **current;
  if (!may_grow_to(file.used + bytes))
    return system_error("pages shared with a device, over the limit of files", EFBIG);
  if (::ftruncate(file.fd.get(), static_cast<off_t>(file.used + bytes)) != 0)
    return system_error("memory of pages shared with a device", errno);
  const uint64_t offset = file.used;
  file.used += bytes;
  return FilePart(*current, offset, bytes);
}

void* FilePart::map(void* at) const {
  if (!file_->fd.is_ours()) return errno = EBADF, MAP_FAILED;
  const int flags = MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
  void* const p = ::mmap(at, bytes_, PROT_NONE, flags, file_->fd.get(), static_cast<off_t>(offset_));
  if (p == MAP_FAILED || !at || p == at) return p;
  ::munmap(p, bytes_);  // before Linux 4.17 an address is a wish
  errno = EEXIST;
  return MAP_FAILED;
}

FilePart::Extent FilePart::touched(size_t from, size_t end, const std::byte* view) const {
  if (!file_->fd.is_ours()) return in_core(from, end, view);
  const int fd = file_->fd.get();
  const auto last = static_cast<off_t>(offset_ + end);
  const auto within = [&](off_t n) { return static_cast<size_t>(static_cast<uint64_t>(std::min(n, last)) - offset_); };
  const off_t data = ::lseek(fd, static_cast<off_t>(offset_ + from), SEEK_DATA);
  if (data < 0 || data >= last) return {end, end};
  return {within(data) / Page * Page, within(::lseek(fd, data, SEEK_HOLE) + off_t{Page} - 1) / Page * Page};
}

FilePart::Extent FilePart::in_core(size_t from, size_t end, const std::byte* view) {
  unsigned char there = 0;
  const auto is_there = [&](size_t n) {
    return ::mincore(const_cast<std::byte*>(view) + n, Page, &there) != 0 || (there & 1) != 0;
  };
  while (from < end && !is_there(from)) from += Page;
  Extent found{from, from};
  while (found.end < end && is_there(found.end)) found.end += Page;
  return found;
}

}  // namespace gt::virt
