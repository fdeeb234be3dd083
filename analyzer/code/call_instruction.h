// The call instruction that ends at a return address, and the name of what it calls.
// Thread safety: none; all state is in the arguments.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <string>

#include "analyzer/code/call_kind.h"

namespace gt::analyzer {

struct CallInstruction {
  CallKind kind = CallKind::Unknown;
  uint64_t target = 0;     // Direct: where it goes
  std::string library_fn;  // Library: the symbol that the GOT slot is filled with
  std::string through;     // Indirect: the register or memory that holds the address: "rax", "[rax + 0x18]"
};

// `address`: the return address, in the file's own addresses. x86-64 and AArch64, whatever this machine is.
CallInstruction find_call(Elf* elf, uint64_t address);

CallInstruction find_call_x86(Elf* elf, uint64_t address);
CallInstruction find_call_arm(Elf* elf, uint64_t address);

}  // namespace gt::analyzer
