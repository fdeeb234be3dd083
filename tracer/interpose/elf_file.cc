#include "tracer/interpose/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "traces/base/fd.h"

namespace gt::interpose {

namespace {

#if defined(__x86_64__)
constexpr uint16_t ThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t ThisMachine = EM_AARCH64;
#else
#error "no ELF machine known for this processor"
#endif

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!fd.open() || fstat(fd.get(), &st) != 0) return system_error(path, errno);
  if (st.st_size == 0) return ElfFile(nullptr, 0);
  const auto size = static_cast<size_t>(st.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return system_error(path, errno);
  return ElfFile(static_cast<const char*>(data), size);
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

ElfFile::~ElfFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

bool ElfFile::is_elf() const {
  return size_ >= EI_NIDENT && std::memcmp(data_, ELFMAG, SELFMAG) == 0;
}

bool ElfFile::runs_here() const {
  return is_elf() && data_[EI_CLASS] == ELFCLASS64 && data_[EI_DATA] == ELFDATA2LSB && header() &&
         header()->e_machine == ThisMachine;
}

template <class Visit>
void ElfFile::for_each_segment(Visit visit) const {
  if (!runs_here()) return;
  const auto* segments = at<Elf64_Phdr>(header()->e_phoff, header()->e_phnum);
  for (unsigned i = 0; segments && i < header()->e_phnum; ++i) visit(segments[i]);
}

bool ElfFile::has_interpreter() const {
  bool found = false;
  for_each_segment([&](const Elf64_Phdr& p) { found = found || p.p_type == PT_INTERP; });
  return found;
}

std::string_view ElfFile::string_at(uint64_t offset) const {
  if (offset >= size_) return {};
  return {data_ + offset, strnlen(data_ + offset, size_ - offset)};
}

uint64_t ElfFile::file_offset(uint64_t address) const {
  uint64_t offset = UINT64_MAX;
  for_each_segment([&](const Elf64_Phdr& p) {
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz) {
      offset = address - p.p_vaddr + p.p_offset;
    }
  });
  return offset;
}

std::vector<std::string> ElfFile::dynamic_strings(int64_t tag) const {
  std::vector<uint64_t> offsets;
  uint64_t strings = UINT64_MAX;
  for_each_segment([&](const Elf64_Phdr& p) {
    if (p.p_type != PT_DYNAMIC) return;
    const uint64_t n = p.p_filesz / sizeof(Elf64_Dyn);
    const auto* entries = at<Elf64_Dyn>(p.p_offset, n);
    for (uint64_t i = 0; entries && i < n && entries[i].d_tag != DT_NULL; ++i) {
      if (entries[i].d_tag == tag) offsets.push_back(entries[i].d_un.d_val);
      if (entries[i].d_tag == DT_STRTAB) strings = file_offset(entries[i].d_un.d_ptr);
    }
  });
  std::vector<std::string> found;
  if (strings >= size_) return found;
  for (uint64_t offset : offsets) {
    if (offset < size_) found.emplace_back(string_at(strings + offset));
  }
  return found;
}

std::vector<std::string> ElfFile::needed() const { return dynamic_strings(DT_NEEDED); }

std::string ElfFile::runpath() const {
  const auto found = dynamic_strings(DT_RUNPATH);
  return found.empty() ? "" : found.front();
}

std::string ElfFile::rpath() const {
  if (!runpath().empty()) return "";
  const auto found = dynamic_strings(DT_RPATH);
  return found.empty() ? "" : found.front();
}

template <class Visit>
void ElfFile::for_each_symbol(Visit visit) const {
  if (!runs_here()) return;
  const Elf64_Ehdr& h = *header();
  const auto* sections = at<Elf64_Shdr>(h.e_shoff, h.e_shnum);
  if (!sections) return;
  for (unsigned i = 0; i < h.e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) || table.sh_link >= h.e_shnum) continue;
    const uint64_t n = table.sh_size / sizeof(Elf64_Sym), names = sections[table.sh_link].sh_offset;
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, n);
    if (!symbols || names >= size_) continue;
    for (uint64_t s = 0; s < n; ++s) {
      if (symbols[s].st_shndx != SHN_UNDEF && visit(symbols[s], string_at(names + symbols[s].st_name))) return;
    }
  }
}

bool ElfFile::defines(std::string_view symbol) const {
  bool found = false;
  for_each_symbol([&](const Elf64_Sym&, std::string_view name) { return found = name == symbol; });
  return found;
}

std::vector<ElfFunction> ElfFile::functions() const {
  std::vector<ElfFunction> found;
  for_each_symbol([&](const Elf64_Sym& s, std::string_view name) {
    const int type = ELF64_ST_TYPE(s.st_info);
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
      found.push_back({name, s.st_value, s.st_size, type == STT_GNU_IFUNC});
    return false;
  });
  return found;
}

std::string_view ElfFile::code(uint64_t address, uint64_t n) const {
  uint64_t offset = UINT64_MAX, room = 0;
  for_each_segment([&](const Elf64_Phdr& p) {
    if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz) return;
    offset = address - p.p_vaddr + p.p_offset;
    room = p.p_filesz - (address - p.p_vaddr);
  });
  if (offset >= size_) return {};
  return {data_ + offset, std::min({n, room, size_ - offset})};
}

}  // namespace gt::interpose
