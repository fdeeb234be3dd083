// Reading machine code before a return address.
#include "analyzer/call_instruction.h"

#include <capstone/capstone.h>

#include <cstring>
#include <optional>
#include <span>

namespace gt::analyzer {
namespace {

using Code = std::span<const uint8_t>;

// The loaded bytes at [address, address + size), or nothing.
Code bytes_at(Elf* elf, uint64_t address, size_t size) {
  size_t headers = 0, file_size = 0;
  const char* file = elf_rawfile(elf, &file_size);
  if (!file || elf_getphdrnum(elf, &headers) != 0) return {};
  for (size_t i = 0; i < headers; ++i) {
    GElf_Phdr p;
    if (!gelf_getphdr(elf, static_cast<int>(i), &p) || p.p_type != PT_LOAD) continue;
    if (address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) continue;
    const uint64_t inside = address - p.p_vaddr;
    if (size > p.p_filesz - inside) return {};
    if (p.p_offset > file_size || inside > file_size - p.p_offset ||
        size > file_size - p.p_offset - inside)
      return {};
    return {reinterpret_cast<const uint8_t*>(file) + p.p_offset + inside, size};
  }
  return {};
}

class Disassembler {
 public:
  explicit Disassembler(bool arm) {
    open_ = cs_open(arm ? CS_ARCH_ARM64 : CS_ARCH_X86, arm ? CS_MODE_ARM : CS_MODE_64, &handle_) ==
            CS_ERR_OK;
    if (open_) cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
  }
  ~Disassembler() {
    if (insn_) cs_free(insn_, 1);
    if (open_) cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction at the start of `code`; valid until the next call.
  const cs_insn* one(Code code, uint64_t address) {
    if (!open_) return nullptr;
    if (insn_) cs_free(insn_, 1);
    insn_ = nullptr;
    return cs_disasm(handle_, code.data(), code.size(), address, 1, &insn_) == 1 ? insn_ : nullptr;
  }
  bool in_group(const cs_insn* insn, unsigned group) const {
    return cs_insn_group(handle_, insn, static_cast<uint8_t>(group));
  }

 private:
  csh handle_ = 0;
  bool open_ = false;
  cs_insn* insn_ = nullptr;
};

// The symbol that the dynamic linker puts into the word at `slot`.
std::string symbol_of_slot(Elf* elf, uint64_t slot) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA) continue;
    GElf_Shdr symbols_header;
    Elf_Scn* symbols = elf_getscn(elf, header.sh_link);
    if (!symbols || !gelf_getshdr(symbols, &symbols_header)) continue;
    Elf_Data* entries = elf_getdata(section, nullptr);
    Elf_Data* names = elf_getdata(symbols, nullptr);
    GElf_Rela r;
    for (int i = 0; entries && names && gelf_getrela(entries, i, &r); ++i) {
      GElf_Sym symbol;
      if (r.r_offset != slot ||
          !gelf_getsym(names, static_cast<int>(GELF_R_SYM(r.r_info)), &symbol))
        continue;
      const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
      return name ? name : "";
    }
  }
  return {};
}

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
  for (int steps = 0; steps < 2; ++steps) {
    const Code code = bytes_at(elf, address, 15);
    const cs_insn* insn = code.empty() ? nullptr : d.one(code, address);
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

CallInstruction explain_x86(Elf* elf, Disassembler& d, const cs_insn* insn) {
  const cs_x86& x = insn->detail->x86;
  if (x.op_count == 1 && x.operands[0].type == X86_OP_IMM) {
    const auto target = static_cast<uint64_t>(x.operands[0].imm);
    const std::string name = symbol_of_plt(elf, d, target);
    if (!name.empty()) return {CallKind::Library, target, name};
    return {CallKind::Direct, target, {}};
  }
  const auto slot = rip_slot(insn);
  const std::string name = slot ? symbol_of_slot(elf, *slot) : std::string();
  return {name.empty() ? CallKind::Indirect : CallKind::Library, 0, name};
}

CallInstruction find_x86(Elf* elf, uint64_t address) {
  Disassembler d(false);
  // Longest forms last: "call rel32" has 5 bytes, "call [rip + x]" 6, "call reg" 2 or 3, with a
  // table up to 8.
  for (const uint64_t size : {5, 6, 2, 3, 4, 7, 8}) {
    if (address < size) continue;
    const Code code = bytes_at(elf, address - size, size);
    const cs_insn* insn = code.empty() ? nullptr : d.one(code, address - size);
    if (insn && insn->size == size && d.in_group(insn, CS_GRP_CALL)) {
      return explain_x86(elf, d, insn);
    }
  }
  return {CallKind::NotACall, 0, {}};
}

CallInstruction find_arm(Elf* elf, uint64_t address) {
  if (address < 4) return {CallKind::NotACall, 0, {}};
  Disassembler d(true);
  const Code code = bytes_at(elf, address - 4, 4);
  const cs_insn* insn = code.empty() ? nullptr : d.one(code, address - 4);
  if (!insn) return {CallKind::NotACall, 0, {}};
  if (insn->id == ARM64_INS_BL) {
    return {CallKind::Direct, static_cast<uint64_t>(insn->detail->arm64.operands[0].imm), {}};
  }
  return {
      std::strncmp(insn->mnemonic, "blr", 3) == 0 ? CallKind::Indirect : CallKind::NotACall, 0, {}};
}

}  // namespace

CallInstruction find_call(Elf* elf, uint64_t address) {
  GElf_Ehdr header;
  if (!elf || !gelf_getehdr(elf, &header)) return {};
  if (header.e_machine == EM_X86_64) return find_x86(elf, address);
  if (header.e_machine == EM_AARCH64) return find_arm(elf, address);
  return {};
}

}  // namespace gt::analyzer
