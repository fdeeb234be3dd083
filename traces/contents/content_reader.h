// Reads trace.contents, which may be anybody's file: what it says is checked before it is believed.
//
// A file whose writer died, or that was cut short or damaged, still gives what lies before: trouble() says so in one
// line. Memory: 40 bytes for each chunk and some 100 for each content, so in proportion to the file; bytes are read on
// demand.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/base/bytes.h"
#include "traces/base/fd.h"
#include "traces/base/status.h"
#include "traces/contents/content_file.h"

namespace gt::contents {

// A content that is a file: found under this path when the program used it.
struct UsedFile {
  uint32_t process = 0;
  int64_t number = 0;
  std::string path;
};

class ContentReader {
 public:
  // `key`: the trace's fact `contents.key`; empty: of any trace. Invalid: the file is another trace's. Corrupt: no such
  // file, or its header is damaged. Unsupported: a later version's. System: it cannot be opened or read.
  static Result<ContentReader> open(const std::string& path, std::string_view key = {});

  bool has(uint32_t process, int64_t number) const { return contents_.count({process, number}) != 0; }
  uint64_t size_of(uint32_t process, int64_t number) const;  // 0: there is none
  // The whole content. Corrupt: it is not in the file, a chunk of it is missing or damaged, or it has more than `most`
  // bytes (a small file may state a large content: zeros are one chunk, again and again); the text names it.
  Status read(uint32_t process, int64_t number, Bytes& out, uint64_t most = uint64_t{4} << 30) const;

  const std::vector<UsedFile>& files() const { return files_; }
  size_t contents() const { return contents_.size(); }
  size_t chunks() const { return chunks_.size(); }
  std::vector<std::pair<uint32_t, int64_t>> numbers() const;  // of all contents: process, number
  // Ok: the file was closed by its writer and is whole as far as one can see without reading every chunk.
  const Status& trouble() const { return trouble_; }
  // Every chunk is read: Corrupt when one is damaged.
  Status check_all() const;

 private:
  struct ChunkPlace {
    uint64_t offset = 0;  // of its body
    uint32_t body_bytes = 0, size = 0;
    Hash hash;
    bool packed = false;
  };
  struct ContentPlace {
    uint64_t offset = 0;
    uint32_t body_bytes = 0;
    uint64_t size = 0;
    Hash hash;
  };
  class Scan;

  ContentReader(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status index(uint64_t file_bytes);
  Status read_at(uint64_t offset, size_t bytes, uint8_t* out) const;
  Status read_chunk(uint32_t chunk, uint8_t* out) const;  // `out` has room for its size
  Status damaged(const std::string& what) const;

  Fd file_;
  std::string path_;
  std::vector<ChunkPlace> chunks_;
  std::map<std::pair<uint32_t, int64_t>, ContentPlace> contents_;
  std::vector<UsedFile> files_;
  Status trouble_;
};

}  // namespace gt::contents
