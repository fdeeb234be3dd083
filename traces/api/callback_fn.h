// The functions of the program that OpenCL calls back, numbered in the same space as OpenCL's (model::FnId). Each
// invocation is a call of its own in the trace, on the thread that OpenCL chose; it uses the Callback object that the
// registering call defined. Numbers are part of the trace format: appended, never reused.
#pragma once

#include <cstdint>

#include "traces/api/fn_id.h"

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

constexpr FnId fn_id(CallbackFn fn) { return static_cast<FnId>(fn); }
constexpr bool is_callback_fn(uint16_t fn) {
  return fn >= FirstCallbackFn && fn < static_cast<uint16_t>(CallbackFn::Count);
}

// Is it called once for each registration? The others may be called any number of times.
constexpr bool called_once(CallbackFn fn) { return fn != CallbackFn::Context && fn != CallbackFn::Printf; }

// "event callback", "program callback", ...; "?" for a number that is not one of ours.
const char* callback_fn_name(uint16_t fn);

}  // namespace gt::api
