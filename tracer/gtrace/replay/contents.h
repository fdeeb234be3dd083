// What the transfers of a recording moved, by the numbers that the trace gives.
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::tracer {

class ContentSource {
 public:
  virtual ~ContentSource() = default;
  virtual bool has(int64_t number) const = 0;
  virtual uint64_t size(int64_t number) const = 0;  // in bytes; 0: there is none
  virtual Status read(int64_t number, Bytes& out) const = 0;
};

}  // namespace gt::tracer
