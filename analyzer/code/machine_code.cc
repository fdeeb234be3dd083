// ELF through libelf, instructions through Capstone.
#include "analyzer/code/machine_code.h"

#include <algorithm>

namespace gt::analyzer {

std::span<const uint8_t> code_at(Elf* elf, uint64_t address, size_t size) {
  size_t headers = 0, file_size = 0;
  const char* file = elf_rawfile(elf, &file_size);
  if (!file || elf_getphdrnum(elf, &headers) != 0) return {};
  for (size_t i = 0; i < headers; ++i) {
    GElf_Phdr p;
    if (!gelf_getphdr(elf, static_cast<int>(i), &p) || p.p_type != PT_LOAD) continue;
    if (address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) continue;
    const uint64_t inside = address - p.p_vaddr;
    if (size > p.p_filesz - inside) return {};
    if (p.p_offset > file_size || inside > file_size - p.p_offset || size > file_size - p.p_offset - inside) return {};
    return {reinterpret_cast<const uint8_t*>(file) + p.p_offset + inside, size};
  }
  return {};
}

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
      if (r.r_offset != slot || !gelf_getsym(names, static_cast<int>(GELF_R_SYM(r.r_info)), &symbol)) continue;
      const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
      return name ? name : "";
    }
  }
  return {};
}

Disassembler::Disassembler(cs_arch arch, cs_mode mode) {
  open_ = cs_open(arch, mode, &handle_) == CS_ERR_OK;
  if (open_) cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
}

Disassembler::~Disassembler() {
  if (insn_) cs_free(insn_, 1);
  if (open_) cs_close(&handle_);
}

const cs_insn* Disassembler::at(Elf* elf, uint64_t address, size_t size) {
  const std::span<const uint8_t> code = code_at(elf, address, size);
  if (!open_ || code.empty()) return nullptr;
  if (insn_) cs_free(insn_, 1);
  insn_ = nullptr;
  return cs_disasm(handle_, code.data(), code.size(), address, 1, &insn_) == 1 ? insn_ : nullptr;
}

bool Disassembler::writes(const cs_insn* insn, unsigned reg) const {
  cs_regs read, written;
  uint8_t reads = 0, count = 0;
  if (cs_regs_access(handle_, insn, read, &reads, written, &count) != CS_ERR_OK) return true;
  return std::find(written, written + count, reg) != written + count;
}

}  // namespace gt::analyzer
