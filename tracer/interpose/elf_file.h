// What we need to know of an ELF file, read from disk. Every offset in it is checked: the file may
// be damaged. Thread safety: const functions.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::interpose {

// A function that a file defines, by its own addresses (before they are moved to where it is loaded).
struct ElfFunction {
  std::string_view name;
  uint64_t address = 0;
  uint64_t size = 0;  // 0: not known
  bool chosen_at_start = false;  // an IFUNC: the address is that of the function that chooses
};

class ElfFile {
 public:
  // Invalid when it cannot be read. A file that is not ELF is no error: see is_elf().
  static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  bool is_elf() const;
  bool runs_here() const;        // 64-bit, this byte order, this processor
  bool has_interpreter() const;  // PT_INTERP: started through the dynamic linker
  std::vector<std::string> needed() const;
  std::string rpath() const;                    // DT_RPATH, "" when there is none or a DT_RUNPATH
  std::string runpath() const;                  // DT_RUNPATH
  bool defines(std::string_view symbol) const;  // in .symtab or .dynsym
  std::vector<ElfFunction> functions() const;  // of .symtab and .dynsym; one may stand in both
  std::string_view code(uint64_t address, uint64_t n) const;  // at most n bytes of the file that are loaded there
  std::string_view text() const { return {data_, size_}; }

 private:
  ElfFile(const char* data, size_t size) : data_(data), size_(size) {}

  // The array of `n` T at `offset`, or nullptr when it does not lie within the file.
  template <class T>
  const T* at(uint64_t offset, uint64_t n = 1) const {
    if (offset > size_ || n > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }
  std::string_view string_at(uint64_t offset) const;
  const Elf64_Ehdr* header() const { return at<Elf64_Ehdr>(0); }
  template <class Visit>
  void for_each_segment(Visit visit) const;
  template <class Visit>
  void for_each_symbol(Visit visit) const;  // visit(const Elf64_Sym&, name); stops when it gives true
  uint64_t file_offset(uint64_t address) const;  // UINT64_MAX when no segment holds it
  std::vector<std::string> dynamic_strings(int64_t tag) const;

  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gt::interpose
