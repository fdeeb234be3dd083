#include "traces/contents/content_file.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gt::contents {

Result<Key> random_key() {
  Key key;
  for (size_t have = 0; have < key.size();) {
    const ssize_t n = ::getrandom(key.data() + have, key.size() - have, 0);
    if (n < 0 && errno != EINTR) return system_error("no random numbers", errno);
    if (n > 0) have += static_cast<size_t>(n);
  }
  return key;
}

std::string key_text(const Key& key) {
  constexpr char Hex[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t b : key) text += {Hex[b >> 4], Hex[b & 15]};
  return text;
}

std::string path_beside(std::string_view trace_path) {
  const size_t slash = trace_path.rfind('/'), dot = trace_path.rfind('.');
  const size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  const bool extension = dot != std::string_view::npos && dot > name;
  return std::string(trace_path.substr(0, extension ? dot : trace_path.size())) + ".contents";
}

Hash hash_of(ByteView bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

FileHeader make_header(const Key& key) {
  FileHeader header{};
  std::memcpy(header.magic, Magic.data(), Magic.size());
  header.version = FormatVersion;
  header.chunk_bytes = ChunkBytes;
  header.key = key;
  header.check = XXH3_64bits(&header, offsetof(FileHeader, check));
  return header;
}

bool sound(const FileHeader& header) {
#ifdef GT_NO_CHECKSUMS
  return header.chunk_bytes == ChunkBytes;
#else
  return header.chunk_bytes == ChunkBytes && header.check == XXH3_64bits(&header, offsetof(FileHeader, check));
#endif
}

uint64_t check_of(const RecordHead& head, uint64_t offset) {
  return XXH3_64bits_withSeed(&head, offsetof(RecordHead, check), offset);
}

void encode_content(ByteWriter& out, const ContentRow& row, std::span<const uint32_t> chunks) {
  out.varint(row.process);
  out.varint(static_cast<uint64_t>(row.number));
  out.varint(row.size);
  int64_t expected = 0;
  for (const uint32_t chunk : chunks) {
    out.svarint(chunk - expected);
    expected = int64_t{chunk} + 1;
  }
}

bool decode_content(ByteView body, ContentRow& row, std::vector<uint32_t>* chunks) {
  ByteReader in(body);
  const uint64_t process = in.varint(), number = in.varint();
  row = {static_cast<uint32_t>(process), static_cast<int64_t>(number), in.varint()};
  if (!in.ok() || process > UINT32_MAX || row.number < 0) return false;
  uint64_t count = 0;
  for (int64_t expected = 0; in.ok() && !in.at_end(); ++count) {
    const int64_t step = in.svarint();
    if (step < -expected || step > int64_t{UINT32_MAX} - expected) return false;
    if (chunks) chunks->push_back(static_cast<uint32_t>(expected + step));
    expected += step + 1;
  }
  return in.ok() && count == row.size / ChunkBytes + (row.size % ChunkBytes != 0);
}

}  // namespace gt::contents
