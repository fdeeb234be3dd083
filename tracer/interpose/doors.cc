#include "tracer/interpose/doors.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/real_library.h"

namespace gt::interpose {

namespace {

constinit std::atomic<Dlopen> g_dlopen{nullptr};
constinit std::atomic<uint64_t> g_loads_seen{0};

Dlopen find_dlopen() {
  Dlopen found = g_dlopen.load(std::memory_order_acquire);
  if (found) return found;
  const Reentry guard;
  found = reinterpret_cast<Dlopen>(next_symbol("dlopen"));
  g_dlopen.store(found, std::memory_order_release);
  return found;
}

// One more reference to the library that is loaded already; dlclose gives it back.
void* open_ourselves(const char* path, int flags) {
  if (std::strchr(path, '/')) prefer_real_library(path);
  const Reentry guard;
  void* ours = real_dlopen(own_path(), (flags & ~RTLD_DEEPBIND) | RTLD_NOLOAD);
  return ours ? ours : real_dlopen(path, flags);
}

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
};

int visit_one(dl_phdr_info* info, size_t, void* data) {
  auto& v = *static_cast<Visit*>(data);
  char build_id[2 * MaxBuildId + 1] = "";
  uint64_t low = UINT64_MAX, high = 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const uint64_t at = info->dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_NOTE && build_id[0] == 0) {
      find_build_id(reinterpret_cast<const char*>(at), p.p_memsz, build_id);
    } else if (p.p_type == PT_LOAD) {
      if (at < low) low = at;
      if (at + p.p_memsz > high) high = at + p.p_memsz;
    }
  }
  if (high == 0) return 0;
  const char* path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : v.program;
  const uint64_t page = static_cast<uint64_t>(getpagesize());
  v.visit({low & ~(page - 1), (high + page - 1) & ~(page - 1), info->dlpi_addr, path, build_id},
          v.context);
  return 0;
}

}  // namespace

void* real_dlopen(const char* path, int flags) { return find_dlopen()(path, flags); }

bool is_opencl_name(const char* path) {
  constexpr char Name[] = "libOpenCL.so";
  const char* slash = std::strrchr(path, '/');
  const char* base = slash ? slash + 1 : path;
  constexpr size_t Length = sizeof Name - 1;
  return std::strncmp(base, Name, Length) == 0 && (base[Length] == 0 || base[Length] == '.');
}

constinit std::atomic<uint32_t> libraries_asked_for{0};

void (*before_deep_binding)() = nullptr;

Dlopen dlopen_for(const char* path, int flags) {
  if ((flags & RTLD_DEEPBIND) && before_deep_binding && program_runs()) before_deep_binding();
  libraries_asked_for.fetch_add(1, std::memory_order_relaxed);
  return path && program_runs() && is_opencl_name(path) ? open_ourselves : find_dlopen();
}

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
  Visit v{visit, context, ""};
  const ssize_t n = readlink("/proc/self/exe", v.program, sizeof v.program - 1);
  v.program[n > 0 ? n : 0] = 0;
  dl_iterate_phdr(visit_one, &v);
  errno = saved_errno;
}

}  // namespace gt::interpose

extern "C" gt::interpose::Dlopen gt_dlopen_for(const char* path, int flags) {
  return gt::interpose::dlopen_for(path, flags);
}
