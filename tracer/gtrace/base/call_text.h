// Calls as text: a template for each shape, filled with the values of each call.
//
//   text  clEnqueueWriteBuffer(command_queue=q0, buffer=b0, ..., ptr=s0+64) = CL_SUCCESS  @
//   app+0x12ab JSON
//   "call":"clEnqueueWriteBuffer","args":{"command_queue":"q0",...},"return":0,"site":"app+0x12ab"
//
// Cost: well under a microsecond a call. Thread safety: one object per thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "traces/model/ssa/object_names.h"

namespace gt::tracer {

enum class CallFormat { Text, Json };

class CallText {
 public:
  // Both must outlive this object.
  CallText(const model::Trace& trace, const model::ObjectNames& names, CallFormat format);

  // REQUIRES: shape is one of the trace's, values.size() == its values().
  void append(std::string& out, model::ShapeId shape, std::span<const int64_t> values);

 private:
  // Literal text, then one value (none when the form takes none).
  struct Piece {
    std::string literal;
    model::ArgForm form = model::ArgForm::Null;
    uint32_t value = 0;
    uint16_t param = 0;
    model::ClassId cls = model::NoIndex;
  };
  using Template = std::vector<Piece>;

  class TemplateBuilder;
  void fill(std::string& out, model::FnId fn, const Piece& piece, std::span<const int64_t> values);
  const std::string& blob(int64_t id);

  const model::Trace& trace_;
  const model::ObjectNames& names_;
  CallFormat format_;
  std::vector<Template> templates_;       // by shape; empty until used
  std::map<int64_t, std::string> blobs_;  // printed once
  bool summarised_;                       // some values were not kept
};

}  // namespace gt::tracer
