// Protocol Buffers' wire format, the half that writes: enough for a Perfetto trace.
//
//   ProtoWriter packet;
//   packet.number(8, timestamp);
//   packet.message(11, [&](ProtoWriter& event) { event.text(23, "clFinish"); });
//
// Thread safety: none.
#pragma once

#include <string_view>

#include "traces/base/bytes.h"

namespace gt::tracer {

class ProtoWriter {
 public:
  void number(uint32_t field, uint64_t v) {
    out_.varint(uint64_t{field} << 3);
    out_.varint(v);
  }
  void fixed64(uint32_t field, uint64_t v) {
    out_.varint((uint64_t{field} << 3) | 1);
    out_.fixed64(v);
  }
  void text(uint32_t field, std::string_view v) { bytes(field, as_bytes(v)); }
  void bytes(uint32_t field, ByteView v) {
    out_.varint((uint64_t{field} << 3) | 2);
    out_.bytes(v);
  }
  template <class Fill>
  void message(uint32_t field, const Fill& fill) {
    ProtoWriter inner;
    fill(inner);
    bytes(field, inner.view());
  }
  ByteView view() const { return out_.view(); }
  void clear() { out_.clear(); }

 private:
  ByteWriter out_;
};

}  // namespace gt::tracer
