// What a virtual device says of itself where the native answer would promise too much.
#pragma once

#include <CL/cl.h>

#include "traces/base/bytes.h"

namespace gt::virt {

// Features that the virtual platform lacks; what the executor hides is hidden already. `in_process`: the executor is,
// so that its memory is the program's.
Bytes masked_info(cl_device_info param, Bytes native, bool in_process);

}  // namespace gt::virt
