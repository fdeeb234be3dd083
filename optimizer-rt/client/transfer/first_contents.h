// The contents that a program gives a memory object when it makes it.
#pragma once

#include "optimizer-rt/client/memory/mem.h"
#include "transport/copy/packed.h"

namespace gt::virt {

// `host` is laid out as `layout` says. Returns when the contents are captured, of large ones when the device has them.
// Throws what their event fails with. REQUIRES: nobody else knows the object yet.
void fill_new(_cl_mem& mem, const void* host, const copy::Layout& layout);

}  // namespace gt::virt
