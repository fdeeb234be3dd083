// Which machine's code it is.
#include "analyzer/code/call_instruction.h"

namespace gt::analyzer {

CallInstruction find_call(Elf* elf, uint64_t address) {
  GElf_Ehdr header;
  if (!elf || !gelf_getehdr(elf, &header)) return {};
  if (header.e_machine == EM_X86_64) return find_call_x86(elf, address);
  if (header.e_machine == EM_AARCH64) return find_call_arm(elf, address);
  return {};
}

}  // namespace gt::analyzer
