// Small zstd-compressed byte strings that state their size: how columns and runs are kept.
//
// Packed: varint(raw size * 2 + compressed), then the bytes as they are or as one zstd frame.
// Thread safety: functions are independent.
#pragma once

#include "traces/base/bytes.h"

namespace gt::model {

Bytes pack(ByteView raw);
Bytes pack_as_it_is(ByteView raw);  // for who reads it soon: takes no time

// False when damaged, or when the raw size is above `max_bytes`. Allocates no more than the content
// warrants.
bool unpack(ByteView packed, size_t max_bytes, Bytes& raw);

}  // namespace gt::model
