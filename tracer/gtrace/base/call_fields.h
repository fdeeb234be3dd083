// The arguments of a call one by one: what viewers show beside a slice.
// Thread safety: one object per thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "traces/model/ssa/object_names.h"

namespace gt::tracer {

struct CallField {
  std::string name;
  std::string text;
  int64_t number = 0;
  bool is_number = false;  // it has no name: `number` says it all
};

// What a command did: sums that need several arguments.
struct CommandFacts {
  std::string title;       // the kernel's name, else the function's without clEnqueue
  std::string queue;       // as objects are printed; "" when there is none
  uint64_t bytes = 0;      // moved by a transfer, when an argument says it
  std::string allocation;  // where the host memory comes from: "s0, malloc @ app+0x1100"
};

class CallFields {
 public:
  // Both must outlive this object.
  CallFields(const model::Trace& trace, const model::ObjectNames& names);

  // REQUIRES: as CallText::append. The list is good until the next call.
  const std::vector<CallField>& fields(model::ShapeId shape, std::span<const int64_t> values);
  CommandFacts command(model::ShapeId shape, std::span<const int64_t> values) const;

 private:
  std::string text_of(const model::Shape& shape, const model::Arg& arg, std::span<const int64_t> values) const;

  const model::Trace& trace_;
  const model::ObjectNames& names_;
  std::vector<CallField> fields_;
};

}  // namespace gt::tracer
