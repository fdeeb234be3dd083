// AArch64. Every instruction has four bytes.
//
//   bl f                                       direct, or to the PLT entry
//       [bti c]  adrp x16, page  ldr x17, [x16, #offset]  add ...  br x17
//   adrp xn, page  ldr xm, [xn, #offset]  ...  blr xm      through the GOT, without a PLT
//   blr xm                                     through a register
#include <cstring>
#include <optional>

#include "analyzer/code/call_instruction.h"
#include "analyzer/code/machine_code.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t Size = 4;

struct Load {  // ldr `into`, [`base`, #`offset`]
  unsigned into = 0, base = 0;
  uint64_t offset = 0;
};
std::optional<Load> load_of(const cs_insn* insn) {
  const cs_arm64& a = insn->detail->arm64;
  const bool plain = insn->id == ARM64_INS_LDR && a.op_count == 2 && a.operands[1].type == ARM64_OP_MEM &&
                     a.operands[1].mem.index == ARM64_REG_INVALID;
  if (!plain) return std::nullopt;
  const arm64_op_mem& m = a.operands[1].mem;
  return Load{a.operands[0].reg, m.base, static_cast<uint64_t>(int64_t{m.disp})};
}
// adrp `reg`, page
std::optional<uint64_t> page_of(const cs_insn* insn, unsigned reg) {
  const cs_arm64& a = insn->detail->arm64;
  if (insn->id != ARM64_INS_ADRP || a.op_count != 2 || a.operands[0].reg != reg) return std::nullopt;
  return static_cast<uint64_t>(a.operands[1].imm);
}

std::string symbol_of_plt(Elf* elf, Disassembler& d, uint64_t address) {
  const cs_insn* insn = d.at(elf, address, Size);
  const bool landing = insn && (std::strcmp(insn->mnemonic, "bti") == 0 || insn->id == ARM64_INS_HINT);
  if (landing) insn = d.at(elf, address += Size, Size);  // "hint" to those who do not know bti
  const auto page = insn ? page_of(insn, ARM64_REG_X16) : std::nullopt;
  if (!page || !(insn = d.at(elf, address + Size, Size))) return {};
  const auto load = load_of(insn);
  return load && load->base == ARM64_REG_X16 ? symbol_of_slot(elf, *page + load->offset) : std::string();
}

// What the straight code before `address` loads into `reg` from the GOT. Code that was jumped into in between may have
// loaded something else; compilers do not write such code.
std::string symbol_loaded(Elf* elf, Disassembler& d, uint64_t address, unsigned reg) {
  constexpr int Farthest = 12;
  std::optional<Load> load;
  for (int i = 0; i < Farthest && address >= Size; ++i) {
    const cs_insn* insn = d.at(elf, address -= Size, Size);
    if (!insn || d.in_group(insn, CS_GRP_JUMP) || d.in_group(insn, CS_GRP_CALL) || d.in_group(insn, CS_GRP_RET))
      return {};
    if (load) {
      if (const auto page = page_of(insn, load->base)) return symbol_of_slot(elf, *page + load->offset);
      if (d.writes(insn, load->base)) return {};
    } else if (d.writes(insn, reg)) {
      load = load_of(insn);
      if (!load || load->into != reg) return {};
    }
  }
  return {};
}

}  // namespace

CallInstruction find_call_arm(Elf* elf, uint64_t address) {
  Disassembler d(CS_ARCH_ARM64, CS_MODE_ARM);
  const cs_insn* insn = address < Size || address % Size != 0 ? nullptr : d.at(elf, address - Size, Size);
  if (!insn) return {CallKind::NotACall, 0, {}, {}};
  if (insn->id == ARM64_INS_BL) {
    const auto target = static_cast<uint64_t>(insn->detail->arm64.operands[0].imm);
    const std::string name = symbol_of_plt(elf, d, target);
    if (!name.empty()) return {CallKind::Library, target, name, {}};
    return {CallKind::Direct, target, {}, {}};
  }
  if (std::strncmp(insn->mnemonic, "blr", 3) != 0) return {CallKind::NotACall, 0, {}, {}};
  const unsigned reg = insn->detail->arm64.operands[0].reg;
  const std::string through = insn->op_str;
  const std::string name = symbol_loaded(elf, d, address - Size, reg);
  if (!name.empty()) return {CallKind::Library, 0, name, {}};
  return {CallKind::Indirect, 0, {}, through};
}

}  // namespace gt::analyzer
