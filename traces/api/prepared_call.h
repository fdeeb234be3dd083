// An encoded call that is made again and again: its arguments are rebuilt once (invoke.h has the rules), and from then
// on a call costs what calling a function costs.
//
// Numbers that were encoded as they are may be changed between two calls (place()).
// Thread safety: none.
#pragma once

#include <memory>

#include "traces/api/fn_id.h"
#include "traces/api/invoke_context.h"
#include "traces/api/wire.h"

namespace gt::api {

class PreparedCall {
 public:
  // nullptr: the function's answer is not an error code, or invoke() would not call it with these inputs.
  // REQUIRES: as invoke(); `objects` may be null and is not used after this.
  static std::unique_ptr<PreparedCall> prepare(FnId fn, ByteView inputs, void (*function)(), ObjectMap* objects);

  virtual ~PreparedCall() = default;
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  // Calls the function: what it answers.
  virtual int32_t make() = 0;
  // What invoke() would have encoded after that.
  virtual void encode_outputs(int32_t answer, VectorWriter& outputs) const = 0;

  // Where the function finds the number of `size` bytes that was encoded at `at`; nullptr: it does not stand there as
  // it was encoded.
  void* place(size_t at, size_t size) const;

 protected:
  PreparedCall() = default;

  InvokeContext context_;
  std::vector<PlacedBytes> placed_;
};

}  // namespace gt::api
