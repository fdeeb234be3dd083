#include "traces/contents/content_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "traces/base/positioned_io.h"

namespace gt::contents {

namespace {

// Of nothing that lies behind a checksum: fuzzing builds go on without.
bool same(const Hash& stated, ByteView bytes) {
#ifdef GT_NO_CHECKSUMS
  (void)stated, (void)bytes;
  return true;
#else
  return stated == hash_of(bytes);
#endif
}

Status unreadable(int err) {
  return err ? system_error("cannot read", err) : Status(Kind::Corrupt, "it ends too early");
}

}  // namespace

// Walks through the records, reading the heads, and the bodies of all but chunks.
class ContentReader::Scan {
 public:
  Scan(ContentReader& to, uint64_t file_bytes) : to_(to), end_(file_bytes) {}

  Status run() {
    while (at_ < end_ && !closed_) {
      if (end_ - at_ < sizeof(RecordHead)) return cut_short();
      RecordHead head;
      GT_TRY(bytes(at_, sizeof head, reinterpret_cast<uint8_t*>(&head)));
#ifndef GT_NO_CHECKSUMS
      if (head.check != check_of(head, at_)) return wrong();
#endif
      if (head.body_bytes > end_ - at_ - sizeof head) return cut_short();
      GT_TRY(take(head));
      at_ += sizeof head + head.body_bytes;
    }
    if (!closed_) return cut_short();
    return at_ == end_ ? Status() : wrong();
  }

 private:
  static constexpr size_t Window = 4 << 10;  // chunks, which are passed over, have more

  Status take(const RecordHead& head) {
    switch (head.kind) {
      case RecordKind::Chunk:
        if (head.size == 0 || head.size > ChunkBytes || head.packed > 1) return wrong();
        if (!head.packed && head.size != head.body_bytes) return wrong();
        to_.chunks_.push_back({at_ + sizeof head, head.body_bytes, head.size, head.hash, head.packed == 1});
        return {};
      case RecordKind::Content:
        return take_content(head);
      case RecordKind::File:
        return take_file(head);
      case RecordKind::End:
        closed_ = head.body_bytes == 0 && head.hash == Hash{to_.chunks_.size(), contents_};
        return closed_ ? Status() : wrong();
    }
    return wrong();
  }

  Status take_content(const RecordHead& head) {
    GT_TRY(body(head));
    ContentRow row;
    if (!same(head.hash, body_) || !decode_content(body_, row, nullptr)) return wrong();
    to_.contents_[{row.process, row.number}] = {at_ + sizeof head, head.body_bytes, row.size, head.hash};
    ++contents_;
    return {};
  }

  Status take_file(const RecordHead& head) {
    GT_TRY(body(head));
    ByteReader in(body_);
    const uint64_t process = in.varint(), number = in.varint();
    UsedFile file{static_cast<uint32_t>(process), static_cast<int64_t>(number), std::string(in.text())};
    if (!same(head.hash, body_) || !in.ok() || !in.at_end() || process > UINT32_MAX || file.number < 0) return wrong();
    to_.files_.push_back(std::move(file));
    return {};
  }

  Status body(const RecordHead& head) {
    body_.resize(head.body_bytes);
    return bytes(at_ + sizeof head, body_.size(), body_.data());
  }

  // Small pieces, mostly one after another.
  Status bytes(uint64_t offset, size_t size, uint8_t* out) {
    if (size == 0) return {};  // `out` may be null
    if (size > Window) return to_.read_at(offset, size, out);
    if (offset < window_at_ || offset + size > window_at_ + window_.size()) {
      window_.resize(static_cast<size_t>(std::min<uint64_t>(Window, end_ - offset)));
      window_at_ = offset;
      GT_TRY(to_.read_at(offset, window_.size(), window_.data()));
    }
    std::memcpy(out, window_.data() + (offset - window_at_), size);
    return {};
  }

  Status cut_short() const {
    return Status(Kind::Corrupt, "was cut short, or its recording did not end: " + rest());
  }
  Status wrong() const { return Status(Kind::Corrupt, "is damaged at byte " + std::to_string(at_) + ": " + rest()); }
  std::string rest() const { return std::to_string(to_.contents_.size()) + " contents are whole"; }

  ContentReader& to_;
  uint64_t at_ = sizeof(FileHeader), end_;
  uint64_t contents_ = 0;
  bool closed_ = false;
  Bytes body_, window_;
  uint64_t window_at_ = 0;
};

Result<ContentReader> ContentReader::open(const std::string& path, std::string_view key) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return system_error("cannot open " + path, errno);
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return system_error("cannot read " + path, errno);
  const auto foreign = [&](const char* why) {
    return Status(Kind::Corrupt, std::string("not a file of gtrace's contents (") + why + ")").at(path);
  };
  if (!S_ISREG(found.st_mode)) return foreign("no regular file");
  const auto size = static_cast<uint64_t>(found.st_size);
  FileHeader header;
  if (size < sizeof header) return foreign("too short");
  if (!pread_all(file.get(), 0, sizeof header, &header)) return unreadable(errno).at(path);
  if (std::string_view(header.magic, sizeof header.magic) != Magic) return foreign("it begins otherwise");
  if (header.version > FormatVersion)
    return Status(Kind::Unsupported, "made by a later version of gtrace (format " + std::to_string(header.version) +
                                         "; this one reads up to " + std::to_string(FormatVersion) + ")").at(path);
  if (header.version == 0 || !sound(header)) return Status(Kind::Corrupt, "its header is damaged").at(path);
  if (!key.empty() && key != key_text(header.key))
    return Status(Kind::Invalid, "belongs to another trace").at(path);
  ContentReader reader(std::move(file), path);
  const Status status = Scan(reader, size).run();
  if (status.kind() == Kind::System) return status;
  reader.trouble_ = status.at(path);
  return reader;
}

uint64_t ContentReader::size_of(uint32_t process, int64_t number) const {
  const auto at = contents_.find({process, number});
  return at == contents_.end() ? 0 : at->second.size;
}

std::vector<std::pair<uint32_t, int64_t>> ContentReader::numbers() const {
  std::vector<std::pair<uint32_t, int64_t>> all;
  for (const auto& [which, place] : contents_) all.push_back(which);
  return all;
}

Status ContentReader::damaged(const std::string& what) const { return Status(Kind::Corrupt, what).at(path_); }

Status ContentReader::read_at(uint64_t offset, size_t bytes, uint8_t* out) const {
  return pread_all(file_.get(), offset, bytes, out) ? Status() : unreadable(errno).at(path_);
}

Status ContentReader::read_chunk(uint32_t chunk, uint8_t* out) const {
  const ChunkPlace& place = chunks_[chunk];
  const auto wrong = [&] { return damaged("chunk " + std::to_string(chunk) + " is damaged"); };
  if (place.packed) {
    Bytes body(place.body_bytes);
    GT_TRY(read_at(place.offset, body.size(), body.data()));
    const size_t n = ZSTD_decompress(out, place.size, body.data(), body.size());
    if (ZSTD_isError(n) || n != place.size) return wrong();
  } else {
    GT_TRY(read_at(place.offset, place.size, out));
  }
  return same(place.hash, {out, place.size}) ? Status() : wrong();
}

Status ContentReader::read(uint32_t process, int64_t number, Bytes& out, uint64_t most) const {
  out.clear();
  const std::string name = "content " + std::to_string(number) + " of process " + std::to_string(process);
  const auto at = contents_.find({process, number});
  if (at == contents_.end()) {
    return trouble_.ok() ? damaged(name + " is not in it")
                         : Status(Kind::Corrupt, trouble_.text() + "; " + name + " is not among them");
  }
  if (at->second.size > most)
    return damaged(name + " has " + std::to_string(at->second.size) + " bytes, more than " + std::to_string(most));
  Bytes body(at->second.body_bytes);
  GT_TRY(read_at(at->second.offset, body.size(), body.data()));
  ContentRow row;
  std::vector<uint32_t> list;
  if (!same(at->second.hash, body) || !decode_content(body, row, &list)) return damaged(name + " is damaged");
  uint64_t size = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto wrong = [&](const char* what) {
      return damaged("chunk " + std::to_string(list[i]) + " of " + name + what);
    };
    if (list[i] >= chunks_.size()) return wrong(" is missing");
    const uint32_t bytes = chunks_[list[i]].size;
    if (bytes != (i + 1 < list.size() ? ChunkBytes : row.size - size)) return wrong(" has another size");
    size += bytes;
  }
  out.resize(size);
  size = 0;
  for (const uint32_t chunk : list) {
    if (const Status s = read_chunk(chunk, out.data() + size); !s.ok()) {
      out.clear();
      return s.kind() == Kind::Corrupt ? Status(s.kind(), s.text() + " (of " + name + ")") : s;
    }
    size += chunks_[chunk].size;
  }
  return {};
}

Status ContentReader::check_all() const {
  Bytes bytes(ChunkBytes);
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    GT_TRY(read_chunk(static_cast<uint32_t>(chunk), bytes.data()));
  }
  return {};
}

}  // namespace gt::contents
