// What clUpdateMutableCommandsKHR changes: arguments of the kernels in a command buffer, each as a CommandArg record.
//
// The structures are those of cl_khr_command_buffer_mutable_dispatch before version 0.9.2 and since, written out
// because headers have either. Sizes of launches and execution information are not kept.
// Thread safety: any thread. Cost: a record for each argument changed.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "tracer/lib/recorder.h"

namespace gt::tracer {

struct MutableArg {
  cl_uint index;
  size_t size;
  const void* value;  // of SVM: the pointer itself
};
struct LaterMutableDispatch {
  void* command;
  cl_uint args, svm_args, exec_infos, work_dim;
  const MutableArg* arg_list;
  const MutableArg* svm_list;
  const void* exec_info_list;
  const size_t* global_work_offset;
  const size_t* global_work_size;
  const size_t* local_work_size;
};
struct MutableDispatch {
  cl_uint type;
  const void* next;
  LaterMutableDispatch of;
};
struct MutableConfig {
  cl_uint type;
  const void* next;
  cl_uint dispatches;
  const MutableDispatch* list;
};
#ifdef CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR
static_assert(sizeof(MutableArg) == sizeof(cl_mutable_dispatch_arg_khr));
static_assert(sizeof(MutableDispatch) == sizeof(cl_mutable_dispatch_config_khr));
static_assert(sizeof(MutableConfig) == sizeof(cl_mutable_base_config_khr));
#endif

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
