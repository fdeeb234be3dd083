// Where the dynamic linker would find the OpenCL library: its own order of search, from outside.
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/linker_cache.h"
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

std::string search_cache(const Names& names) {
  const LinkerCache cache;
  std::string found;
  for (const std::string& name : names) {
    const auto take = [&](std::string_view path) { return usable(found = path); };
    if (cache.find(name, take)) return found;
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
