// A Source as bytes: how it comes from the library that reads it, and out of the child that it runs in.
#pragma once

#include "traces/base/bytes.h"
#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

Bytes encode(const Source& source);
// False: these are the bytes of no source. They come from a process that ran hostile text, and are not trusted.
bool decode(ByteView bytes, Source& source);

}  // namespace gt::kernels
