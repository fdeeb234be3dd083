// The bytes of a Source, written and read.
#include "analyzer/kernels/source_bytes.h"

#include <utility>

namespace gt::kernels {
namespace {

constexpr uint64_t MaxItems = 100000;  // kernels, or arguments of one

}  // namespace

Bytes encode(const Source& s) {
  ByteWriter out;
  out.u8(s.exact);
  out.text(s.note);
  out.varint(s.kernels.size());
  for (const Kernel& k : s.kernels) {
    out.text(k.name);
    out.u8(static_cast<uint8_t>(k.elsewhere));
    out.varint(k.args.size());
    for (const Arg& a : k.args) {
      out.text(a.name);
      out.text(a.type);
      out.u8(static_cast<uint8_t>(a.space));
      out.u8(static_cast<uint8_t>(a.access));
    }
  }
  return out.take();
}

bool decode(ByteView bytes, Source& s) {
  ByteReader in(bytes);
  s.exact = in.u8() == 1;
  s.note = in.text();
  const uint64_t kernels = in.varint();
  for (uint64_t i = 0; in.ok() && i < kernels && i < MaxItems; ++i) {
    Kernel k;
    k.name = in.text();
    const uint8_t elsewhere = in.u8();
    if (elsewhere > 3) return false;
    k.elsewhere = static_cast<Access>(elsewhere);
    const uint64_t args = in.varint();
    for (uint64_t a = 0; in.ok() && a < args && a < MaxItems; ++a) {
      Arg arg;
      arg.name = in.text();
      arg.type = in.text();
      const uint8_t space = in.u8(), access = in.u8();
      if (space > 3 || access > 3) return false;
      arg.space = static_cast<AddressSpace>(space);
      arg.access = static_cast<Access>(access);
      k.args.push_back(std::move(arg));
    }
    s.kernels.push_back(std::move(k));
  }
  return in.ok() && in.at_end();
}

}  // namespace gt::kernels
