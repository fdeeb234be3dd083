// Answering the requests of a running program (pool/requests.h).
// Thread safety: none.
#pragma once

#include <functional>

#include "optimizer-rt/pool/requests.h"
#include "traces/model/platform/platform.h"

namespace gt::opt {

// The program may write anything there.
model::DeviceName device_of(const DeviceTexts& texts);

// Calls `answer` for each device that is asked for, and then says that it was answered. Beats once.
void answer_requests(Requests& requests, const std::function<void(const model::DeviceName&)>& answer);

}  // namespace gt::opt
