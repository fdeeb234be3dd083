// Where the dynamic linker would find the OpenCL library: its own order of search, from outside.
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/program_file.h"

namespace gt::interpose {

namespace {

using Names = std::vector<std::string>;
const Names OpenclNames = {"libOpenCL.so.1", "libOpenCL.so"};
constexpr const char* DefaultDirectories =
#if defined(__aarch64__)
    "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
#else
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
#endif
    "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";

bool usable(const std::string& path) {
  if (path.empty() || path[0] != '/' || access(path.c_str(), R_OK) != 0) return false;
  auto file = ElfFile::open(path);
  return file && file->runs_here() && !file->defines("gt_interposed_library");
}

std::string directory_of(const std::string& path) {
  char resolved[PATH_MAX];
  const std::string real = realpath(path.c_str(), resolved) ? resolved : path;
  return real.substr(0, real.rfind('/'));
}

std::string with_origin(std::string text, const std::string& origin) {
  for (const char* token : {"${ORIGIN}", "$ORIGIN"}) {
    for (size_t at; (at = text.find(token)) != std::string::npos;)
      text.replace(at, std::strlen(token), origin);
  }
  return text;
}

std::string search_directories(const std::string& list, const std::string& origin, const Names& names) {
  std::istringstream directories(list);
  for (std::string directory; std::getline(directories, directory, ':');) {
    for (const std::string& name : names) {
      const std::string path = with_origin(directory, origin) + "/" + name;
      if (usable(path)) return path;
    }
  }
  return "";
}

// ld.so.cache, format 1.1 (glibc >= 2.2): a header, entries sorted by name, strings. An older cache
// may precede it.
struct CacheHeader {
  char magic[20];  // "glibc-ld.so.cache1.1"
  uint32_t entries;
  uint32_t string_bytes;
  uint32_t unused[5];
};
struct CacheEntry {
  int32_t flags;
  uint32_t name, path;  // offsets from the header
  uint32_t os_version;
  uint64_t hardware;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

std::string_view cache_string(std::string_view cache, uint32_t offset) {
  return offset < cache.size() ? cache.substr(offset, cache.find('\0', offset) - offset)
                               : std::string_view{};
}

std::string search_cache(const Names& names) {
  auto file = ElfFile::open("/etc/ld.so.cache");
  if (!file) return "";
  constexpr std::string_view Magic = "glibc-ld.so.cache1.1";
  std::string_view cache = file->text();
  const size_t begin = cache.find(Magic);
  if (begin == std::string_view::npos || cache.size() - begin < sizeof(CacheHeader)) return "";
  cache.remove_prefix(begin);
  CacheHeader header;
  std::memcpy(&header, cache.data(), sizeof header);
  if (header.entries > (cache.size() - sizeof header) / sizeof(CacheEntry)) return "";
  for (const std::string& name : names) {
    for (uint32_t i = 0; i < header.entries; ++i) {
      CacheEntry entry;
      std::memcpy(&entry, cache.data() + sizeof header + i * sizeof entry, sizeof entry);
      if (cache_string(cache, entry.name) != name) continue;
      std::string path(cache_string(cache, entry.path));
      if (usable(path)) return path;
    }
  }
  return "";
}

std::string search(const std::string& binary, const Names& names) {
  const std::string origin = directory_of(binary);
  auto elf = ElfFile::open(binary);
  const char* library_path = getenv("LD_LIBRARY_PATH");
  const std::function<std::string()> steps[] = {
      [&] { return elf ? search_directories(elf->rpath(), origin, names) : ""; },
      [&] { return library_path ? search_directories(library_path, origin, names) : ""; },
      [&] { return elf ? search_directories(elf->runpath(), origin, names) : ""; },
      [&] { return search_cache(names); },
      [&] { return search_directories(DefaultDirectories, origin, names); },
  };
  for (const auto& step : steps) {
    if (std::string found = step(); !found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string find_opencl_library(const std::string& binary) { return search(binary, OpenclNames); }

std::string find_library(const std::string& binary, const std::string& name) {
  return name.find('/') == std::string::npos ? search(binary, {name}) : name;
}

std::vector<std::string> linked_libraries(const std::string& binary) {
  std::vector<std::string> found, open{binary};
  std::set<std::string> seen;
  while (!open.empty()) {
    const std::string user = open.back();
    open.pop_back();
    const auto elf = ElfFile::open(user);
    if (!elf) continue;
    for (const std::string& name : elf->needed()) {
      if (!seen.insert(name).second) continue;
      const std::string path = find_library(user, name);
      found.push_back(path.empty() ? name : path);
      if (!path.empty()) open.push_back(path);
    }
  }
  return found;
}

}  // namespace gt::interpose
