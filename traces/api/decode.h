// Reads encoded calls back (encode.h, wire.h): one flat list of arguments, in the order of the
// parameters.
//
// The elements of an array or property list are consecutive DecodedArgs of the same parameter; the
// return value has the parameter number DecodedReturn. Inputs name every parameter. Outputs name
// the return value and what was written; a pointer that was NULL, or an output of a failed call, is
// not there. Damaged input gives false and never reads outside `in`; what was decoded until then
// stays in `out`. Thread safety: no state. Cost: no allocation once `out` has its capacity.
#pragma once

#include <deque>
#include <vector>

#include "traces/api/api.h"
#include "traces/api/wire.h"

namespace gt::api {

enum class Tag : uint8_t {
  Null,         // a NULL pointer or handle
  Int,          // value: a number, sign-extended when its type is signed
  Handle,       // value: a handle of `kind`
  HostPointer,  // value: an address; length: bytes from there, 0 when unknown; data: their contents
                // when encoded. kind: Unknown for the program's own memory, Svm or Mapping for
                // OpenCL's
  Bytes,  // data (and length): a byte string
  Code,   // value: the address of a function
  Raw,    // value: a pointer-sized number without meaning
  Empty,  // an array without elements, or a pointer to be filled
};

struct DecodedArg {
  uint16_t param = 0;
  Tag tag = Tag::Null;
  ObjectKind kind = ObjectKind::Unknown;
  Effect effect = Effect::None;
  uint64_t value = 0;
  uint64_t length = 0;
  ByteView data;  // into the decoded bytes, or into the context's blobs
};
constexpr uint16_t DecodedReturn = 0xff00;

struct DecodeContext {
  // Where the bytes of External strings are, in order; each is used once. Must outlive the decoded
  // arguments.
  const std::deque<Bytes>* external = nullptr;
  size_t next_external = 0;
};

bool decode_inputs(FnId fn, ByteView in, DecodeContext& context, std::vector<DecodedArg>& out);
bool decode_outputs(FnId fn, ByteView in, DecodeContext& context, std::vector<DecodedArg>& out);

inline bool decode_inputs(FnId fn, ByteView in, std::vector<DecodedArg>& out) {
  DecodeContext context;
  return decode_inputs(fn, in, context, out);
}
inline bool decode_outputs(FnId fn, ByteView in, std::vector<DecodedArg>& out) {
  DecodeContext context;
  return decode_outputs(fn, in, context, out);
}

}  // namespace gt::api
