#include "traces/contents/content_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gt::contents {

namespace {

constexpr int PackLevel = 1;
constexpr size_t SmallestPacked = 64;       // below, a frame's header eats the gain
constexpr size_t CommitBytes = 1 << 20;     // pending without a commit()
constexpr size_t MostRemembered = 1 << 20;  // chunks, of each generation

}  // namespace

struct ContentWriter::Packer {
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  Bytes room = Bytes(ZSTD_compressBound(ChunkBytes));

  // Empty: it does not pay.
  ByteView pack(ByteView bytes) {
    if (bytes.size() < SmallestPacked || !context) return {};
    const size_t n =
        ZSTD_compressCCtx(context.get(), room.data(), room.size(), bytes.data(), bytes.size(), PackLevel);
    if (ZSTD_isError(n) || n >= bytes.size() - bytes.size() / 8) return {};
    return {room.data(), n};
  }
};

Result<ContentWriter> ContentWriter::open(const std::string& path, const Key& key) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.open()) return system_error("cannot write " + path, errno);
  return ContentWriter(std::move(file), key);
}

ContentWriter::ContentWriter(Fd file, const Key& key) : file_(std::move(file)), packer_(std::make_unique<Packer>()) {
  const FileHeader header = make_header(key);
  pending_.resize(sizeof header);
  std::memcpy(pending_.data(), &header, sizeof header);
}

ContentWriter::ContentWriter(ContentWriter&&) noexcept = default;
ContentWriter::~ContentWriter() = default;

// The end needs a record, too.
bool ContentWriter::room_for(uint64_t bytes) const {
  return trouble_.ok() && (most_bytes_ == 0 || file_bytes() + bytes + sizeof(RecordHead) <= most_bytes_);
}

bool ContentWriter::append(RecordKind kind, ByteView body, const Hash& hash, uint32_t size, bool packed) {
  const uint64_t bytes = sizeof(RecordHead) + body.size();
  if (kind != RecordKind::End && !room_for(bytes)) return false;
  RecordHead head{kind, static_cast<uint32_t>(body.size()), size, packed, hash, 0};
  head.check = check_of(head, file_bytes());
  const size_t at = pending_.size();
  pending_.resize(at + bytes);
  std::memcpy(pending_.data() + at, &head, sizeof head);
  if (!body.empty()) std::memcpy(pending_.data() + at + sizeof head, body.data(), body.size());
  if (pending_.size() >= CommitBytes) commit();
  return trouble_.ok();
}

// What is used again stays; what is not goes when the younger generation is full.
uint32_t* ContentWriter::known(const Hash& hash) {
  if (const auto at = recent_.find(hash); at != recent_.end()) return &at->second;
  const auto at = older_.find(hash);
  if (at == older_.end()) return nullptr;
  const uint32_t chunk = at->second;
  remember(hash, chunk);
  return &recent_[hash];
}

void ContentWriter::remember(const Hash& hash, uint32_t chunk) {
  if (recent_.size() >= MostRemembered) older_ = std::exchange(recent_, {});
  recent_[hash] = chunk;
}

uint32_t ContentWriter::add_chunk(ByteView bytes) {
  const Hash hash = hash_of(bytes);
  if (const uint32_t* chunk = known(hash)) return *chunk;
  if (chunks_ == LeftOut || !room_for(sizeof(RecordHead))) return LeftOut;
  const ByteView packed = packer_->pack(bytes);
  const ByteView body = packed.empty() ? bytes : packed;
  if (!append(RecordKind::Chunk, body, hash, static_cast<uint32_t>(bytes.size()), !packed.empty())) return LeftOut;
  remember(hash, chunks_);
  return chunks_++;
}

bool ContentWriter::add_content(const ContentRow& row, std::span<const uint32_t> chunks) {
  ByteWriter body;
  encode_content(body, row, chunks);
  if (!append(RecordKind::Content, body.view(), hash_of(body.view()))) return false;
  ++contents_;
  content_bytes_ += row.size;
  return true;
}

bool ContentWriter::add(uint32_t process, int64_t number, ByteView bytes) {
  std::vector<uint32_t> chunks;
  for (size_t at = 0; at < bytes.size(); at += ChunkBytes) {
    chunks.push_back(add_chunk(bytes.subspan(at, std::min<size_t>(ChunkBytes, bytes.size() - at))));
    if (chunks.back() == LeftOut) return false;
  }
  return add_content({process, number, bytes.size()}, chunks);
}

bool ContentWriter::add_file(uint32_t process, int64_t number, const std::string& path) {
  ByteWriter body;
  body.varint(process);
  body.varint(static_cast<uint64_t>(number));
  body.text(path);
  return append(RecordKind::File, body.view(), hash_of(body.view()));
}

// Whole, or not at all: a part that a full disk has taken is cut off again.
void ContentWriter::commit() {
  for (size_t done = 0; trouble_.ok() && done < pending_.size();) {
    const ssize_t n = ::write(file_.get(), pending_.data() + done, pending_.size() - done);
    if (n > 0) done += static_cast<size_t>(n);
    if (n >= 0 || errno == EINTR) continue;
    trouble_ = system_error("cannot write", errno);
    if (::ftruncate(file_.get(), static_cast<off_t>(committed_)) != 0) committed_ += done;
  }
  if (trouble_.ok()) committed_ += pending_.size();
  pending_.clear();
}

void ContentWriter::close() {
  commit();
  if (!trouble_.ok()) return;
  append(RecordKind::End, {}, {chunks_, contents_});
  commit();
  if (trouble_.ok() && ::fsync(file_.get()) != 0) trouble_ = system_error("cannot write", errno);
}

}  // namespace gt::contents
