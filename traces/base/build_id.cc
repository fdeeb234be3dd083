// Reading a build-id: the GNU note in one of the file's note segments. Every offset is checked;
// files may be damaged.
#include "traces/base/build_id.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace gt {
namespace {

constexpr size_t MaxNotes = 1 << 20;

bool read_at(std::ifstream& in, uint64_t offset, void* out, size_t size) {
  in.clear();
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(static_cast<char*>(out), static_cast<std::streamsize>(size));
  return static_cast<size_t>(in.gcount()) == size;
}

std::string hex(const char* bytes, size_t n) {
  static constexpr char Digits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    const auto b = static_cast<unsigned char>(bytes[i]);
    out += {Digits[b >> 4], Digits[b & 15]};
  }
  return out;
}

size_t padded(size_t n) { return (n + 3) / 4 * 4; }

std::string find_in_notes(const std::vector<char>& notes) {
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    const size_t name = at + sizeof note;
    const size_t value = name + padded(note.n_namesz);
    const size_t end = value + padded(note.n_descsz);
    if (end > notes.size() || end <= at) return {};
    const bool gnu = note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) return hex(notes.data() + value, note.n_descsz);
    at = end;
  }
  return {};
}

}  // namespace

std::string build_id_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!in || !read_at(in, 0, &header, sizeof header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(in, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > MaxNotes) continue;
    std::vector<char> notes(segment.p_filesz);
    if (!read_at(in, segment.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = find_in_notes(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace gt
