// zstd, level 3; what does not shrink is kept as it is.
#include "traces/model/series/pack.h"

#include <zstd.h>

#include <algorithm>

namespace gt::model {

Bytes pack(ByteView raw) {
  Bytes frame(ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 3);
  const bool smaller = !ZSTD_isError(size) && size < raw.size();
  ByteWriter out;
  out.varint(static_cast<uint64_t>(raw.size()) * 2 + (smaller ? 1 : 0));
  out.raw(smaller ? frame.data() : raw.data(), smaller ? size : raw.size());
  return out.take();
}

bool unpack(ByteView packed, size_t max_bytes, Bytes& raw) {
  ByteReader in(packed);
  const uint64_t header = in.varint();
  const uint64_t size = header / 2;
  if (!in.ok() || size > max_bytes) return false;
  const ByteView content = in.raw(in.remaining());
  if (header % 2 == 0) {
    raw.assign(content.begin(), content.end());
    return raw.size() == size;
  }
  // The frame states its size too; both must agree before memory is taken for it.
  if (ZSTD_getFrameContentSize(content.data(), content.size()) != size) return false;
  raw.resize(size);
  return ZSTD_decompress(raw.data(), size, content.data(), content.size()) == size;
}

}  // namespace gt::model
