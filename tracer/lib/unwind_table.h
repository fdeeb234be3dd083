// What a module's unwind tables (.eh_frame_hdr, .eh_frame) say of one return address: how to get from its frame to the
// caller's. Reads DWARF call frame information as the System V ABI for x86-64 and the LSB lay it out.
//
// Thread safety: yes. No allocation, no lock. A table that is not as expected gives no step, never a fault: reads stay
// inside the module that claims the address.
#pragma once

#include <cstdint>

namespace gt::tracer {

// The canonical frame address (CFA) is the stack pointer of the caller; its return address lies below it.
struct FrameStep {
  enum class Cfa : uint8_t { Unknown, Sp, Fp, AtFp };  // sp + n, fp + n, the word at fp + n
  enum class Fp : uint8_t {
    Same,
    AtCfa,
    AtFp,
    Unknown
  };  // the caller's frame pointer: kept, saved at cfa/fp + n, lost
  int32_t cfa_offset = 0, fp_offset = 0;
  Cfa cfa = Cfa::Unknown;
  Fp fp = Fp::Same;
  uint64_t function = 0;  // where the code that the entry covers begins
};

// `pc`: the address after a call instruction. Cfa::Unknown: the walk ends here.
FrameStep find_step(uint64_t pc);

}  // namespace gt::tracer
