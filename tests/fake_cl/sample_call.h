// A random call of any OpenCL function, encoded, and what the fake function of that name made of
// it.
#pragma once

#include <string>

#include "traces/api/fn_id.h"
#include "traces/base/bytes.h"

namespace gt::fake {

struct SampleCall {
  api::FnId fn = api::FnId::None;
  Bytes inputs;                // Contents::Full
  Bytes recorded;              // Contents::None
  Bytes outputs;               // Contents::Full
  std::string log;             // of the fake function called directly
  bool writers_agree = false;  // SizeWriter, SpanWriter and VectorWriter give the same bytes
};

// Equal for equal arguments. `succeed`: whether the fake function does. Image elements have four
// bytes.
SampleCall sample_call(api::FnId fn, uint64_t seed, bool succeed);

}  // namespace gt::fake
