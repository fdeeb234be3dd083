// What clUpdateMutableCommandsKHR is given, in the two forms that it has had.
//
// Written out because headers have either: cl_khr_command_buffer_mutable_dispatch before version 0.9.2 (a structure
// with a list) and since (a list of structures, api::LaterUpdate). Thread safety: values.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>
#include <cstdint>

namespace gt::api {

struct UpdateArg {
  cl_uint index;
  size_t size;
  const void* value;  // of SVM: the pointer itself
};
struct UpdateExecInfo {
  cl_uint name;
  size_t size;
  const void* value;
};
struct DispatchUpdate {
  void* command;
  cl_uint args, svm_args, exec_infos, work_dim;
  const UpdateArg* arg_list;
  const UpdateArg* svm_list;
  const UpdateExecInfo* exec_info_list;
  const size_t* global_work_offset;
  const size_t* global_work_size;
  const size_t* local_work_size;
};
struct TypedDispatchUpdate {
  cl_uint type;
  const void* next;
  DispatchUpdate of;
};
struct UpdateConfig {
  cl_uint type;
  const void* next;
  cl_uint dispatches;
  const TypedDispatchUpdate* list;
};
#ifdef CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR
static_assert(sizeof(UpdateArg) == sizeof(cl_mutable_dispatch_arg_khr));
static_assert(sizeof(UpdateExecInfo) == sizeof(cl_mutable_dispatch_exec_info_khr));
static_assert(sizeof(TypedDispatchUpdate) == sizeof(cl_mutable_dispatch_config_khr));
static_assert(sizeof(UpdateConfig) == sizeof(cl_mutable_base_config_khr));
#endif
constexpr cl_uint UpdateConfigType = 0, DispatchUpdateType = 1;  // CL_STRUCTURE_TYPE_... of the earlier form

// What an update says of a command, one after the other; traces have these numbers (traces/model/fold/update_param.h).
enum class UpdatePart : uint32_t {
  Argument = 1,  // `size` bytes; local memory where there is no value
  Pointer,       // an argument that is an address in shared virtual memory
  ExecInfo,      // index: its name
  ExecPointer,   // index: the name of a list, and one of its elements
  Offset,        // index: the dimension
  Global,
  Local,
  Unread,  // and something that could not be read
};
// Execution information that is a list of pointers: of SVM, of unified shared memory.
constexpr bool lists_pointers(uint64_t exec_info) { return exec_info == 0x11b6 || exec_info == 0x4203; }

}  // namespace gt::api
