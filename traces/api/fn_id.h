// The numbers of the OpenCL functions. Part of the trace and wire formats: appended, never reused.
#pragma once

#include <cstdint>

namespace gt::api {

// 0 is no function; model::FnId is the same number.
enum class FnId : uint16_t {
  None = 0,
#define GT_FN_ID(name, id) name = id,
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
};

// One more than the largest number: the size of an array indexed by FnId.
constexpr uint16_t FnCount = [] {
  uint16_t last = 0;
#define GT_FN_ID(name, id) last = id > last ? id : last;
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
  return static_cast<uint16_t>(last + 1);
}();

}  // namespace gt::api
