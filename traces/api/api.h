// What the table knows of a function, at run time: names, parameters, attributes. Numbers are
// model::FnId: OpenCL functions from 1, allocation functions from FirstAllocFn (alloc_fn.h), the
// program's callbacks from FirstCallbackFn (callback_fn.h); every other number is "?". Thread safety: constant data.
// Cost: an array access, except find_function (a search).
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/api/alloc_fn.h"
#include "traces/api/callback_fn.h"
#include "traces/api/fn_id.h"
#include "traces/api/roles.h"

namespace gt::api {

struct ParamInfo {
  const char* name = "?";
  const char* group =
      "";  // the C type whose value names print it ("cl_mem_flags", "cl_bool"), or ""
  Wire in = Wire::None, out = Wire::None;
  ObjectKind kind = ObjectKind::Unknown;
  Effect effect = Effect::None;
  bool is_signed = false;
  bool error_code = false;  // CL_SUCCESS or an error (a return value or errcode_ret)
};

struct FnInfo {
  const char* name = "?";
  const ParamInfo* params = nullptr;
  uint16_t param_count = 0;
  ParamInfo result;  // layout of the return value: result.out
  Attributes attributes;
};

// OpenCL functions have numbers below FnCount. Unknown numbers give an empty FnInfo.
constexpr uint16_t fn_count() { return FnCount; }
const FnInfo& fn_info(uint16_t fn);

const char* function_name(uint16_t fn);         // also allocation functions
uint16_t find_function(std::string_view name);  // 0 when there is none; OpenCL functions only
inline uint16_t param_count(uint16_t fn) { return fn_info(fn).param_count; }
const ParamInfo& param_info(uint16_t fn, uint16_t param);  // an empty one when there is none
inline const char* param_name(uint16_t fn, uint16_t param) { return param_info(fn, param).name; }
// Is this the error code of the call? `param` may be the return value's number (DecodedReturn).
inline bool is_error_code(uint16_t fn, uint16_t param) {
  return param == 0xff00 ? fn_info(fn).result.error_code : param_info(fn, param).error_code;
}
inline const Attributes& attributes(uint16_t fn) { return fn_info(fn).attributes; }

}  // namespace gt::api
