// Capstone, decoding one instruction after the other.
//
// Its library is loaded with the first Disassembler: its 80,000 relocations take a millisecond, and most
// runs of our programs need none of them. Thread safety: each is one thread's.
#pragma once

#include <string_view>

#include <capstone/capstone.h>

namespace gt::interpose {

class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Without its library nothing can be decoded.
  bool ready() const { return instruction_ != nullptr; }
  // The instruction at the head of `code`, or nullptr. Valid until the next call.
  const cs_insn* decode(std::string_view code, uint64_t address);
  bool in_group(const cs_insn& i, unsigned group) const;

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

}  // namespace gt::interpose
