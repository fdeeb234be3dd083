// Machine code in an ELF file: its bytes, its instructions, and the names that the dynamic linker fills its slots with.
// Everything is bounded by the file, whatever its headers say.
// Thread safety: none; all state is in the arguments.
#pragma once

#include <capstone/capstone.h>
#include <gelf.h>

#include <cstdint>
#include <span>
#include <string>

namespace gt::analyzer {

// The loaded bytes at [address, address + size); empty when the file does not have them all.
std::span<const uint8_t> code_at(Elf* elf, uint64_t address, size_t size);

// The symbol that the dynamic linker puts into the word at `slot`; empty when there is none.
std::string symbol_of_slot(Elf* elf, uint64_t slot);

class Disassembler {
 public:
  Disassembler(cs_arch arch, cs_mode mode);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction that begins at `address`, of at most `size` bytes; nullptr when there is none. Valid until the next
  // call.
  const cs_insn* at(Elf* elf, uint64_t address, size_t size);
  bool in_group(const cs_insn* insn, unsigned group) const {
    return cs_insn_group(handle_, insn, static_cast<uint8_t>(group));
  }
  bool writes(const cs_insn* insn, unsigned reg) const;

 private:
  csh handle_ = 0;
  bool open_ = false;
  cs_insn* insn_ = nullptr;
};

}  // namespace gt::analyzer
