#include "tracer/interpose/loaded_modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>

extern "C" int _dl_find_object(void*, dl_find_object*) noexcept __attribute__((weak));

namespace gt::interpose {

namespace {

constinit std::atomic<uint64_t> g_loads_seen{0};

void hex(char* out, const unsigned char* bytes, size_t n) {
  constexpr char Digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; ++i) {
    *out++ = Digits[bytes[i] >> 4];
    *out++ = Digits[bytes[i] & 15];
  }
  *out = 0;
}

constexpr size_t MaxBuildId = 64;

// Looks through one PT_NOTE segment, as it lies in memory.
bool find_build_id(const char* at, size_t size, char* out) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
    const size_t name = (note->n_namesz + 3u) & ~size_t{3},
                 text = (note->n_descsz + 3u) & ~size_t{3};
    if (name + text > size - sizeof *note) return false;
    const char* owner = at + sizeof *note;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
        std::memcmp(owner, "GNU", 4) == 0 && note->n_descsz <= MaxBuildId) {
      hex(out, reinterpret_cast<const unsigned char*>(owner + name), note->n_descsz);
      return true;
    }
    at += sizeof *note + name + text;
    size -= sizeof *note + name + text;
  }
  return false;
}

struct Visit {
  ModuleVisitor visit;
  void* context;
  char program[4096];

  Visit(ModuleVisitor visitor, void* visitors) : visit(visitor), context(visitors) {
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
  }
};

void visit_one(const Visit& v, std::span<const ElfW(Phdr)> headers, uint64_t bias, const char* name) {
  char build_id[2 * MaxBuildId + 1] = "";
  uint64_t low = UINT64_MAX, high = 0;
  for (const ElfW(Phdr)& p : headers) {
    const uint64_t at = bias + p.p_vaddr;
    if (p.p_type == PT_NOTE && build_id[0] == 0) {
      find_build_id(reinterpret_cast<const char*>(at), p.p_memsz, build_id);
    } else if (p.p_type == PT_LOAD) {
      if (at < low) low = at;
      if (at + p.p_memsz > high) high = at + p.p_memsz;
    }
  }
  if (high == 0) return;
  const char* path = name && name[0] ? name : v.program;
  const uint64_t page = static_cast<uint64_t>(getpagesize());
  v.visit({low & ~(page - 1), (high + page - 1) & ~(page - 1), bias, path, build_id}, v.context);
}

// The program headers of the module that `address` lies in: of one whose first segment begins with the file's header,
// as every linker's does.
bool find_headers(const void* address, link_map*& map, std::span<const ElfW(Phdr)>& headers) {
  dl_find_object object;
  if (!_dl_find_object || _dl_find_object(const_cast<void*>(address), &object) != 0) return false;
  const auto* begin = static_cast<const char*>(object.dlfo_map_start);
  const auto bytes = static_cast<size_t>(static_cast<const char*>(object.dlfo_map_end) - begin);
  const auto& file = *reinterpret_cast<const ElfW(Ehdr)*>(begin);
  if (bytes < sizeof file || std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (file.e_phoff > bytes || file.e_phnum > (bytes - file.e_phoff) / sizeof(ElfW(Phdr))) return false;
  map = object.dlfo_link_map;
  headers = {reinterpret_cast<const ElfW(Phdr)*>(begin + file.e_phoff), file.e_phnum};
  return true;
}

}  // namespace

constinit std::atomic<uint32_t> libraries_asked_for{0};

bool modules_changed() {
  uint64_t loads = 0;
  const auto first = [](dl_phdr_info* info, size_t, void* out) {
    *static_cast<uint64_t*>(out) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &loads);
  uint64_t seen = g_loads_seen.load(std::memory_order_relaxed);
  return loads != seen &&
         g_loads_seen.compare_exchange_strong(seen, loads, std::memory_order_relaxed);
}

void visit_modules(ModuleVisitor visit, void* context) {
  const int saved_errno = errno;
  Visit v(visit, context);
  const auto each = [](dl_phdr_info* info, size_t, void* data) {
    visit_one(*static_cast<Visit*>(data), {info->dlpi_phdr, info->dlpi_phnum}, info->dlpi_addr, info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(each, &v);
  errno = saved_errno;
}

bool visit_module_of(const void* address, ModuleVisitor visit, void* context) {
  const int saved_errno = errno;
  link_map* map = nullptr;
  std::span<const ElfW(Phdr)> headers;
  const bool found = find_headers(address, map, headers);
  if (found) visit_one(Visit(visit, context), headers, map->l_addr, map->l_name);
  errno = saved_errno;
  return found;
}

bool visit_modules_unlocked(ModuleVisitor visit, void* context) {
  if (!_dl_find_object) return false;
  const int saved_errno = errno;
  const Visit v(visit, context);
  for (const link_map* m = _r_debug.r_map; m; m = m->l_next) {
    link_map* map = nullptr;
    std::span<const ElfW(Phdr)> headers;
    if (find_headers(m->l_ld, map, headers)) visit_one(v, headers, m->l_addr, m->l_name);
  }
  errno = saved_errno;
  return true;
}

bool modules_are_found_unlocked() { return _dl_find_object != nullptr; }

}  // namespace gt::interpose
