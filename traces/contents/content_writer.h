// Writes trace.contents while its program runs: each chunk once, however often its bytes come.
//
//   ContentWriter::open() ── add_chunk() add_chunk() add_content() ── commit() ... ── close()
//
// What was committed stays, whatever happens to the writer's process. When the disk is full or the limit reached, what
// does not fit is left out as a whole.
// Memory: 40 bytes for each of the last one to two million different chunks, and what was not committed yet (1 MiB at
// most). A chunk that was forgotten and comes again is stored again.
// Thread safety: none. After a fork only one of the processes may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "traces/contents/content_file.h"

namespace gt::contents {

class ContentWriter {
 public:
  // A new file at `path`, which must not exist; only its owner may read it. System: it cannot be made.
  static Result<ContentWriter> open(const std::string& path, const Key& key);
  ContentWriter(ContentWriter&&) noexcept;
  ContentWriter& operator=(ContentWriter&&) = delete;
  ~ContentWriter();

  // Bytes that the file may have at most; 0: no limit. What was written stays.
  void limit(uint64_t most_bytes) { most_bytes_ = most_bytes; }

  // Number of the chunk with these bytes, at most ChunkBytes of them; LeftOut when there is no room for it.
  static constexpr uint32_t LeftOut = ~uint32_t{0};
  uint32_t add_chunk(ByteView bytes);
  // A content of these chunks, all of which but the last have ChunkBytes. False: there is no room for it.
  bool add_content(const ContentRow& row, std::span<const uint32_t> chunks);
  // The same for bytes in one piece.
  bool add(uint32_t process, int64_t number, ByteView bytes);
  // This content is a file that the program used under this path.
  bool add_file(uint32_t process, int64_t number, const std::string& path);

  // What was added so far gets into the file.
  void commit();
  void close();  // and says that it is complete

  uint64_t file_bytes() const { return committed_ + pending_.size(); }
  uint64_t content_bytes() const { return content_bytes_; }  // of all contents, each of them whole
  uint64_t contents() const { return contents_; }
  const Status& trouble() const { return trouble_; }  // why the file could not be written on

 private:
  struct HashOfHash {
    size_t operator()(const Hash& h) const { return static_cast<size_t>(h.low); }
  };
  using ChunkMap = std::unordered_map<Hash, uint32_t, HashOfHash>;
  struct Packer;

  ContentWriter(Fd file, const Key& key);
  bool room_for(uint64_t bytes) const;
  bool append(RecordKind kind, ByteView body, const Hash& hash, uint32_t size = 0, bool packed = false);
  uint32_t* known(const Hash& hash);
  void remember(const Hash& hash, uint32_t chunk);

  Fd file_;
  std::unique_ptr<Packer> packer_;
  Bytes pending_;
  uint64_t committed_ = 0, most_bytes_ = 0, content_bytes_ = 0, contents_ = 0;
  uint32_t chunks_ = 0;
  ChunkMap recent_, older_;
  Status trouble_;
};

}  // namespace gt::contents
