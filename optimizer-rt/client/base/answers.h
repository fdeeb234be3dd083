// What came back from an asked call: its code, and the outputs by parameter.
#pragma once

#include <vector>

#include "traces/api/decode.h"

#include "optimizer-rt/client/base/object.h"

namespace gt::virt {

constexpr size_t LargestInfo = size_t{64} << 10;  // room that queries give

struct CallAnswer {
  cl_int code = CL_OUT_OF_RESOURCES;
  std::vector<api::DecodedArg> outputs;  // views into what was decoded
  uint64_t number(uint16_t param, uint64_t otherwise = 0) const;
  ByteView bytes(uint16_t param) const;
  std::vector<uint64_t> numbers(uint16_t param) const;
};
// `outputs` must outlive the answer.
CallAnswer answer_of(api::FnId fn, ByteView outputs);

// Of a call that makes an object: CL_SUCCESS, or why it did not.
cl_int creation_code(api::FnId fn, ByteView outputs);

struct InfoAnswer {
  cl_int code = CL_OUT_OF_RESOURCES;
  Bytes value;
};
// Of a clGet*Info whose answer is bytes.
InfoAnswer info_of(api::FnId fn, ByteView outputs);

}  // namespace gt::virt
