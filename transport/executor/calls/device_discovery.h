// What the drivers of this process have to offer, as the client is to see it.
//
// What cannot go over a link is taken out: shared virtual memory, memory shared with the host, native kernels, and
// extensions that bring functions of their own (an extension that is not known to be harmless is hidden).
// Thread safety: none; the control channel uses it. Cost: milliseconds, some hundred queries for each device.
#pragma once

#include "transport/executor/base/objects.h"

namespace gt::exec {

// Platforms that fail or have no devices are left out, with a line in the log. `device`: only this (sub-)device.
void discover_devices(Session& session, Objects& objects, ObjectId device, wire::Surveyed& out);

}  // namespace gt::exec
