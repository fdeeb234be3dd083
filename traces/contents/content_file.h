// trace.contents, as bytes: a header, then records one after another. docs/CONTENTS_FORMAT.md describes it.
//
//   file   = header record*
//   record = RecordHead body
//
// Nothing in it is ever written over: a writer that dies leaves whole records and at most one that is cut short, which
// a reader leaves out. All numbers are little-endian.
// Thread safety: values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::contents {

constexpr uint32_t FormatVersion = 1;
constexpr uint32_t ChunkBytes = 64 << 10;  // of every chunk of a content but the last
constexpr size_t KeyBytes = 16;

// Ties a file to its trace, which has it as the fact `contents.key`, in hexadecimal digits.
using Key = std::array<uint8_t, KeyBytes>;
Result<Key> random_key();
std::string key_text(const Key& key);

// trace.db -> trace.contents
std::string path_beside(std::string_view trace_path);

// Contents of calls are numbered from 0 in the order of their process, files from here on.
constexpr int64_t FirstFileNumber = int64_t{1} << 40;

// XXH3, 128 bits.
struct Hash {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Hash&) const = default;
};
Hash hash_of(ByteView bytes);

struct FileHeader {
  char magic[16];  // "gtrace contents", with its NUL
  uint32_t version;
  uint32_t chunk_bytes;
  Key key;
  uint64_t check;  // of all before it
};
static_assert(sizeof(FileHeader) == 48);
FileHeader make_header(const Key& key);
bool sound(const FileHeader& header);
constexpr std::string_view Magic = std::string_view("gtrace contents\0", 16);

enum class RecordKind : uint32_t {
  Chunk = 1,    // body: its bytes, or a zstd frame of them. Chunks are numbered from 0, in the order of the file
  Content = 2,  // body: see encode_content()
  File = 3,     // a content that is a file which the program has used; body: process, number, path
  End = 4,      // the file was closed: nothing follows. size: of the records before it
};

struct RecordHead {
  RecordKind kind;
  uint32_t body_bytes;
  uint32_t size;    // Chunk: when unpacked
  uint32_t packed;  // 1: the body is a zstd frame
  Hash hash;        // Chunk: of the unpacked bytes; else of the body
  uint64_t check;   // of all before it and of the place in the file
};
static_assert(sizeof(RecordHead) == 40);
uint64_t check_of(const RecordHead& head, uint64_t offset);

// A content: whose it is, how long, and its chunks as differences of their numbers.
struct ContentRow {
  uint32_t process = 0;
  int64_t number = 0;
  uint64_t size = 0;
};
void encode_content(ByteWriter& out, const ContentRow& row, std::span<const uint32_t> chunks);
// False: it makes no sense. `chunks` may be null.
bool decode_content(ByteView body, ContentRow& row, std::vector<uint32_t>* chunks);

}  // namespace gt::contents
