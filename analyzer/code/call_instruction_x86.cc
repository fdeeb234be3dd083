// x86-64. Instructions have any length, so the call before an address is found by trying.
#include <optional>

#include "analyzer/code/call_instruction.h"
#include "analyzer/code/machine_code.h"

namespace gt::analyzer {
namespace {

// The address of the memory operand of "jmp [rip + x]" or "call [rip + x]".
std::optional<uint64_t> rip_slot(const cs_insn* insn) {
  const cs_x86& x = insn->detail->x86;
  if (x.op_count != 1 || x.operands[0].type != X86_OP_MEM) return std::nullopt;
  const x86_op_mem& m = x.operands[0].mem;
  if (m.base != X86_REG_RIP || m.index != X86_REG_INVALID) return std::nullopt;
  return insn->address + insn->size + static_cast<uint64_t>(m.disp);
}

// A PLT entry is [endbr64] [bnd] jmp [rip + slot].
std::string symbol_of_plt(Elf* elf, Disassembler& d, uint64_t address) {
  constexpr size_t Longest = 15;
  for (int steps = 0; steps < 2; ++steps) {
    const cs_insn* insn = d.at(elf, address, Longest);
    if (!insn) return {};
    if (insn->id == X86_INS_JMP) {
      const auto slot = rip_slot(insn);
      return slot ? symbol_of_slot(elf, *slot) : std::string();
    }
    if (insn->id != X86_INS_ENDBR64) return {};
    address += insn->size;
  }
  return {};
}

CallInstruction explain(Elf* elf, Disassembler& d, const cs_insn* insn) {
  const cs_x86& x = insn->detail->x86;
  if (x.op_count == 1 && x.operands[0].type == X86_OP_IMM) {
    const auto target = static_cast<uint64_t>(x.operands[0].imm);
    const std::string name = symbol_of_plt(elf, d, target);
    if (!name.empty()) return {CallKind::Library, target, name, {}};
    return {CallKind::Direct, target, {}, {}};
  }
  const auto slot = rip_slot(insn);
  const std::string name = slot ? symbol_of_slot(elf, *slot) : std::string();
  if (!name.empty()) return {CallKind::Library, 0, name, {}};
  std::string through = insn->op_str;
  through.erase(0, through.find('['));  // without "qword ptr"
  return {CallKind::Indirect, 0, {}, through.empty() ? insn->op_str : through};
}

}  // namespace

CallInstruction find_call_x86(Elf* elf, uint64_t address) {
  Disassembler d(CS_ARCH_X86, CS_MODE_64);
  // The most likely forms first: "call rel32" has 5 bytes, "call [rip + x]" 6, "call reg" 2 or 3, through a table up
  // to 8.
  for (const uint64_t size : {5, 6, 2, 3, 4, 7, 8}) {
    const cs_insn* insn = address < size ? nullptr : d.at(elf, address - size, size);
    if (insn && insn->size == size && d.in_group(insn, CS_GRP_CALL)) return explain(elf, d, insn);
  }
  return {CallKind::NotACall, 0, {}, {}};
}

}  // namespace gt::analyzer
