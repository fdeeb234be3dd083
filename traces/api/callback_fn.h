// The functions of the program that OpenCL calls back, numbered in the same space as OpenCL's (model::FnId). Each
// invocation is a call of its own in the trace, on the thread that OpenCL chose; it uses the Callback object that the
// registering call defined. Numbers are part of the trace format: appended, never reused.
#pragma once

#include <cstdint>

namespace gt::api {

constexpr uint16_t FirstCallbackFn = 0xc000;

enum class CallbackFn : uint16_t {
  Context = FirstCallbackFn,  // pfn_notify of clCreateContext[FromType]
  ContextDestructor,
  MemObjectDestructor,
  Program,  // pfn_notify of clBuildProgram, clCompileProgram, clLinkProgram
  ProgramRelease,
  Event,
  NativeKernel,
  SvmFree,
  Printf,  // CL_PRINTF_CALLBACK_ARM and the like in a context's properties
  Count,
};

// "event callback", "build callback", ...; "?" for a number that is not one of ours.
const char* callback_fn_name(uint16_t fn);

}  // namespace gt::api
