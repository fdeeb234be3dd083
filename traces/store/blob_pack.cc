// zstd around blobs.
#include "traces/store/blob_pack.h"

#include <zstd.h>

namespace gt::store {
namespace {

constexpr size_t SmallestPacked = 64;  // below, a frame's header eats the gain

}  // namespace

BlobRow pack_blob(const model::Blob& blob) {
  BlobRow row{blob.full_size, blob.bytes.size(), false, {}};
  if (blob.bytes.size() >= SmallestPacked) {
    Bytes packed(ZSTD_compressBound(blob.bytes.size()));
    const size_t n =
        ZSTD_compress(packed.data(), packed.size(), blob.bytes.data(), blob.bytes.size(), 9);
    if (!ZSTD_isError(n) && n < blob.bytes.size() - blob.bytes.size() / 8) {
      packed.resize(n);
      row.packed = true;
      row.bytes = std::move(packed);
      return row;
    }
  }
  row.bytes = blob.bytes;
  return row;
}

Status unpack_blob(BlobRow& row, uint64_t& budget_bytes, model::Blob& blob) {
  const Status damaged(Kind::Corrupt,
                       "the trace is damaged (blobs: a blob that cannot be unpacked)");
  if (row.size > row.full_size || row.size > budget_bytes) return damaged;
  budget_bytes -= row.size;
  blob.full_size = row.full_size;
  if (!row.packed) {
    if (row.bytes.size() != row.size) return damaged;
    blob.bytes = std::move(row.bytes);
    return {};
  }
  if (ZSTD_getFrameContentSize(row.bytes.data(), row.bytes.size()) != row.size) return damaged;
  blob.bytes.resize(row.size);
  const size_t n =
      ZSTD_decompress(blob.bytes.data(), blob.bytes.size(), row.bytes.data(), row.bytes.size());
  return ZSTD_isError(n) || n != row.size ? damaged : Status();
}

}  // namespace gt::store
