// Blobs as rows: compressed where it pays, unpacked within a budget.
#pragma once

#include "traces/store/tables.h"

namespace gt::store {

BlobRow pack_blob(const model::Blob& blob);

// Corrupt when the row is impossible or would take more than what is left of `budget_bytes`, which
// it counts down. What is not compressed moves out of the row.
Status unpack_blob(BlobRow& row, uint64_t& budget_bytes, model::Blob& blob);

}  // namespace gt::store
