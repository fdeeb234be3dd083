#include "tracer/collect/spill.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tracer/collect/spill_piece.h"

namespace gt::tracer {

namespace {

constexpr uint64_t Block = 1 << 20;  // given back at a time

uint64_t half_of_free(int file) {
  struct statvfs fs {};
  return fstatvfs(file, &fs) == 0 ? uint64_t{fs.f_bavail} * fs.f_frsize / 2 : 0;
}

}  // namespace

void Spill::put_at(const std::string& path, uint64_t most_bytes) {
  most_bytes_ = most_bytes;
  path_ = path.size() < sizeof spool_->spill_path ? path : "";
}

Status Spill::reopen() {
  const std::string_view path(spool_->spill_path, sizeof spool_->spill_path);
  begin_ = spool_->spill_begin.load();
  end_ = spool_->spill_end.load();
  path_ = path.substr(0, path.find('\0'));
  if (begin_ >= end_ || path_.empty()) {
    begin_ = end_ = 0;
    path_.clear();
    return {};
  }
  file_ = Fd(open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat st {};
  const bool there = file_.open() && fstat(file_.get(), &st) == 0;
  const Status trouble = !there              ? system_error(path_, errno)
                         : !begins_a_piece() ? Status(Kind::Corrupt, path_ + " holds no records")
                                             : Status();
  end_ = trouble.ok() ? std::min(end_, static_cast<uint64_t>(st.st_size)) : begin_;
  if (!trouble.ok()) {  // what a damaged spool names may be anybody's: it stays as it is
    file_ = Fd();
    path_.clear();
  }
  return trouble;
}

bool Spill::begins_a_piece() const {
  PieceHead head;
  return pread(file_.get(), &head, sizeof head, static_cast<off_t>(begin_)) == sizeof head && head.magic == PieceMagic;
}

Status Spill::make() {
  unlink(path_.c_str());  // of a process with our number, which was killed
  file_ = Fd(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file_.open()) return system_error(path_, errno);
  spool_->spill_begin.store(0);
  spool_->spill_end.store(0);
  std::memcpy(spool_->spill_path, path_.c_str(), path_.size() + 1);
  if (most_bytes_ == 0) most_bytes_ = half_of_free(file_.get());
  return {};
}

Status Spill::write(ByteView piece) {
  for (size_t done = 0; done < piece.size();) {
    const ssize_t n = pwrite(file_.get(), piece.data() + done, piece.size() - done, static_cast<off_t>(end_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error("cannot write " + path_, n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
  return {};
}

Status Spill::append(ByteView piece) {
  if (!file_.open()) GT_TRY(make());
  const uint64_t kept = gives_back_ ? kept_from_ : 0;
  if (end_ - kept + piece.size() > most_bytes_)
    return Status(Kind::System, "what may be written to " + path_ + " is used up", ENOSPC);
  GT_TRY(write(piece));
  end_ += piece.size();
  spool_->spill_end.store(end_, std::memory_order_release);
  return {};
}

Status Spill::read(uint64_t at, Bytes& piece) const {
  PieceHead head;
  if (pread(file_.get(), &head, sizeof head, static_cast<off_t>(at)) != sizeof head)
    return system_error("cannot read " + path_, errno);
  if (head.bytes < sizeof head || head.bytes > end_ - at) return Status(Kind::Corrupt, path_ + " is damaged");
  piece.resize(head.bytes);
  for (size_t done = 0; done < piece.size();) {
    const ssize_t n = pread(file_.get(), piece.data() + done, piece.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error("cannot read " + path_, errno);
    done += static_cast<size_t>(n);
  }
  return {};
}

void Spill::drop(uint64_t piece_bytes) {
  begin_ += piece_bytes;
  if (empty()) return forget();
  spool_->spill_begin.store(begin_, std::memory_order_release);
  const uint64_t whole = begin_ / Block * Block;
  if (whole == kept_from_ || !gives_back_) return;
  constexpr int Hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  const auto from = static_cast<off_t>(kept_from_), count = static_cast<off_t>(whole - kept_from_);
  gives_back_ = fallocate(file_.get(), Hole, from, count) == 0;
  if (gives_back_) kept_from_ = whole;
}

void Spill::drop_all() {
  if (!empty()) forget();
}

// In this order: whoever comes after us finds it empty.
void Spill::forget() {
  spool_->spill_end.store(0, std::memory_order_release);
  spool_->spill_begin.store(0, std::memory_order_release);
  begin_ = end_ = kept_from_ = 0;
  (void)!ftruncate(file_.get(), 0);
}

void Spill::remove() {
  if (!file_.open()) return;
  unlink(path_.c_str());
  file_ = Fd();
}

}  // namespace gt::tracer
