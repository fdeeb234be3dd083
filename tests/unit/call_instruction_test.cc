// Call instructions of x86-64 and AArch64, in small ELF files made here byte by byte.
#include "analyzer/code/call_instruction.h"

#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

using namespace gt::analyzer;

namespace {

constexpr uint64_t Code = 0x1000, Plt = 0x1800, Slot = 0x3008;  // addresses

// A file with code at Code and Plt, and a symbol "puts" that the dynamic linker puts into Slot.
class Image {
 public:
  explicit Image(uint16_t machine) : bytes_(0x2000) {
    const std::string names("\0puts\0", 6);
    const uint64_t strings = append(names.data(), names.size());
    Elf64_Sym symbols[2] = {};
    symbols[1].st_name = 1;
    const uint64_t table = append(symbols, sizeof symbols);
    Elf64_Rela slot = {};
    slot.r_offset = Slot;
    slot.r_info = ELF64_R_INFO(1, 7);
    const uint64_t relocations = append(&slot, sizeof slot);
    Elf64_Shdr s[4] = {};
    s[1] = section(SHT_STRTAB, strings, names.size(), 0, 0);
    s[2] = section(SHT_DYNSYM, table, sizeof symbols, 1, sizeof(Elf64_Sym));
    s[3] = section(SHT_RELA, relocations, sizeof slot, 2, sizeof slot);
    const uint64_t sections = append(s, sizeof s);

    Elf64_Ehdr e = {};
    std::memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_type = ET_DYN;
    e.e_machine = machine;
    e.e_version = EV_CURRENT;
    e.e_ehsize = sizeof e;
    e.e_phoff = sizeof e;
    e.e_phentsize = sizeof(Elf64_Phdr);
    e.e_phnum = 1;
    e.e_shoff = sections;
    e.e_shentsize = sizeof(Elf64_Shdr);
    e.e_shnum = 4;
    std::memcpy(bytes_.data(), &e, sizeof e);
    Elf64_Phdr p = {};
    p.p_type = PT_LOAD;
    p.p_filesz = p.p_memsz = 0x2000;
    std::memcpy(bytes_.data() + sizeof e, &p, sizeof p);
  }

  // Puts code somewhere; gives the address behind it.
  uint64_t put(uint64_t at, std::initializer_list<uint8_t> code) {
    std::copy(code.begin(), code.end(), bytes_.begin() + static_cast<ptrdiff_t>(at));
    return at + code.size();
  }
  uint64_t put_words(uint64_t at, std::initializer_list<uint32_t> code) {
    for (const uint32_t word : code) {
      std::memcpy(bytes_.data() + at, &word, 4);
      at += 4;
    }
    return at;
  }
  CallInstruction find(uint64_t address, size_t length = ~size_t{0}) {
    std::vector<char> copy(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(std::min(length, bytes_.size())));
    elf_version(EV_CURRENT);
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(copy.data(), copy.size()), elf_end);
    return find_call(elf.get(), address);
  }
  size_t size() const { return bytes_.size(); }

 private:
  uint64_t append(const void* data, size_t size) {
    bytes_.resize((bytes_.size() + 7) & ~size_t{7});
    const uint64_t at = bytes_.size();
    bytes_.insert(bytes_.end(), static_cast<const char*>(data), static_cast<const char*>(data) + size);
    return at;
  }
  static Elf64_Shdr section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link, uint64_t each) {
    Elf64_Shdr s = {};
    s.sh_type = type;
    s.sh_offset = offset;
    s.sh_size = size;
    s.sh_link = link;
    s.sh_entsize = each;
    s.sh_addralign = 8;
    return s;
  }
  std::vector<char> bytes_;
};

// Distance from the end of an instruction to an address, as its four bytes.
#define DISTANCE(to, end) \
  uint8_t((to) - (end)), uint8_t(((to) - (end)) >> 8), uint8_t(((to) - (end)) >> 16), uint8_t(((to) - (end)) >> 24)

constexpr uint32_t adrp(uint32_t reg, uint64_t at, uint64_t page) {
  const auto pages = static_cast<uint32_t>((page >> 12) - (at >> 12));
  return 0x90000000u | ((pages & 3) << 29) | (((pages >> 2) & 0x7ffff) << 5) | reg;
}
constexpr uint32_t ldr(uint32_t into, uint32_t base, uint32_t offset) {
  return 0xf9400000u | ((offset / 8) << 10) | (base << 5) | into;
}
constexpr uint32_t bl(uint64_t at, uint64_t to) {
  return 0x94000000u | (static_cast<uint32_t>((to - at) / 4) & 0x3ffffff);
}
constexpr uint32_t blr(uint32_t reg) { return 0xd63f0000u | (reg << 5); }
constexpr uint32_t Nop = 0xd503201f, BtiC = 0xd503245f, BrX17 = 0xd61f0220, AddX16 = 0x91002210, MovX0X1 = 0xaa0103e0;

}  // namespace

TEST_CASE("x86-64: direct calls, and through the PLT in its forms") {
  Image image(EM_X86_64);
  uint64_t at = image.put(Code, {0xe8, DISTANCE(Code + 0x300, Code + 5)});
  CallInstruction call = image.find(at);
  CHECK(call.kind == CallKind::Direct);
  CHECK(call.target == Code + 0x300);

  at = image.put(Code + 0x20, {0xe8, DISTANCE(Plt, Code + 0x25)});
  image.put(Plt, {0xff, 0x25, DISTANCE(Slot, Plt + 6)});
  call = image.find(at);
  CHECK(call.kind == CallKind::Library);
  CHECK(call.library_fn == "puts");

  image.put(Plt, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, DISTANCE(Slot, Plt + 11)});  // endbr64; bnd jmp
  CHECK(image.find(at).library_fn == "puts");
}

TEST_CASE("x86-64: calls through the GOT, a register, a table") {
  Image image(EM_X86_64);
  CallInstruction call = image.find(image.put(Code, {0xff, 0x15, DISTANCE(Slot, Code + 6)}));
  CHECK(call.kind == CallKind::Library);
  CHECK(call.library_fn == "puts");
  call = image.find(image.put(Code, {0xff, 0x15, DISTANCE(Slot + 8, Code + 6)}));
  CHECK(call.kind == CallKind::Indirect);
  image.put(Code, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90});
  call = image.find(image.put(Code + 8, {0xff, 0xd0}));
  CHECK(call.kind == CallKind::Indirect);
  CHECK(call.through == "rax");
  call = image.find(image.put(Code + 0x20, {0xff, 0x50, 0x18}));
  CHECK(call.kind == CallKind::Indirect);
  CHECK(call.through == "[rax + 0x18]");
  CHECK(image.find(image.put(Code + 0x40, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90})).kind ==
        CallKind::NotACall);
}

TEST_CASE("AArch64: direct calls, and through the PLT in its forms") {
  Image image(EM_AARCH64);
  CallInstruction call = image.find(image.put_words(Code, {bl(Code, Code + 0x300)}));
  CHECK(call.kind == CallKind::Direct);
  CHECK(call.target == Code + 0x300);
  call = image.find(image.put_words(Code + 0x40, {bl(Code + 0x40, Code)}));  // backwards
  CHECK(call.target == Code);

  const uint64_t at = image.put_words(Code + 0x80, {bl(Code + 0x80, Plt)});
  image.put_words(Plt, {adrp(16, Plt, Slot), ldr(17, 16, Slot & 0xfff), AddX16, BrX17});
  call = image.find(at);
  CHECK(call.kind == CallKind::Library);
  CHECK(call.library_fn == "puts");
  image.put_words(Plt, {BtiC, adrp(16, Plt + 4, Slot), ldr(17, 16, Slot & 0xfff), AddX16, BrX17});
  CHECK(image.find(at).library_fn == "puts");
}

TEST_CASE("AArch64: calls through the GOT and through a register") {
  Image image(EM_AARCH64);
  uint64_t at = image.put_words(Code, {adrp(3, Code, Slot), MovX0X1, ldr(3, 3, Slot & 0xfff), MovX0X1, blr(3)});
  CallInstruction call = image.find(at);
  CHECK(call.kind == CallKind::Library);
  CHECK(call.library_fn == "puts");
  at = image.put_words(Code, {adrp(3, Code, Slot), ldr(3, 3, Slot & 0xfff), bl(Code + 8, Code + 0x300), blr(3)});
  call = image.find(at);  // a call in between may change x3
  CHECK(call.kind == CallKind::Indirect);
  CHECK(call.through == "x3");
  CHECK(image.find(image.put_words(Code, {Nop, Nop, blr(8)})).through == "x8");
  CHECK(image.find(image.put_words(Code, {Nop})).kind == CallKind::NotACall);
  CHECK(image.find(Code + 2).kind == CallKind::NotACall);
}

TEST_CASE("other machines' code is not guessed at") {
  Image image(EM_PPC64);
  CHECK(image.find(image.put(Code, {0xe8, 0, 0, 0, 0})).kind == CallKind::Unknown);
  CHECK(find_call(nullptr, 5).kind == CallKind::Unknown);
}

TEST_CASE("files that end anywhere") {
  for (const uint16_t machine : {uint16_t{EM_X86_64}, uint16_t{EM_AARCH64}}) {
    Image image(machine);
    uint64_t at = 0;
    if (machine == EM_X86_64) {
      at = image.put(Code, {0xe8, DISTANCE(Plt, Code + 5)});
      image.put(Plt, {0xff, 0x25, DISTANCE(Slot, Plt + 6)});
    } else {
      at = image.put_words(Code, {bl(Code, Plt)});
      image.put_words(Plt, {adrp(16, Plt, Slot), ldr(17, 16, Slot & 0xfff), AddX16, BrX17});
    }
    size_t named = 0;
    for (size_t length = 0; length <= image.size(); ++length) named += image.find(at, length).library_fn == "puts";
    CHECK(named >= 1);
    CHECK(named < 64);  // only where nearly all is there
    for (const uint64_t wild :
         {uint64_t{0}, uint64_t{1}, uint64_t{0x1fff}, uint64_t{0x2000}, ~uint64_t{0}, ~uint64_t{0} - 3}) {
      CHECK(image.find(wild).kind == CallKind::NotACall);
    }
  }
}
