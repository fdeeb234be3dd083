// What clUpdateMutableCommandsKHR changes, each change as a CommandArg record.
//
// Thread safety: any thread. Cost: a record for each command and each thing changed.
#pragma once

#include "tracer/lib/recorder.h"
#include "traces/api/command_update.h"

namespace gt::tracer {

// The arguments of the later form. Given to record_update() as the config when this thread's `t_update_list` is that.
struct UpdateList {
  cl_uint count;
  const cl_uint* types;
  const void** configs;
};
extern __thread const UpdateList* t_update_list __attribute__((tls_model("initial-exec")));

// Reads nothing that cannot be read. REQUIRES: the Enter record of the call is written.
void record_update(uint16_t fn, const void* config);

}  // namespace gt::tracer
