#include "tracer/interpose/other_interposers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/program_file.h"

namespace gt::interpose {

namespace {

// How the files of sanitizers and of allocators that take malloc's place are called.
constexpr std::string_view Names[] = {
    "libasan.",    "libtsan.",    "liblsan.",     "libhwasan.",   "libubsan.",  "libclang_rt.", "libjemalloc",
    "libtcmalloc", "libmimalloc", "libheaptrack", "libtbbmalloc", "libdmalloc", "libefence",    "libscudo",
    "libsnmalloc", "libhoard"};

bool is_known(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto begins = [&](std::string_view known) { return name.substr(0, known.size()) == known; };
  return std::any_of(std::begin(Names), std::end(Names), begins);
}

bool is_ours(const std::string& path) {
  const auto file = ElfFile::open(path);
  return file && file->is_elf() && file->defines("gt_interposed_library");
}

void add_preloaded(std::string_view list, std::vector<std::string>& found) {
  while (!list.empty()) {
    const size_t n = std::min(list.find_first_of(": "), list.size());
    const std::string path(list.substr(0, n));
    if (!path.empty() && !is_ours(path)) found.push_back(path + " (preloaded)");
    list.remove_prefix(std::min(n + 1, list.size()));
  }
}

}  // namespace

std::vector<std::string> other_interposers(const std::string& binary) {
  std::vector<std::string> found;
  if (const char* preload = getenv("LD_PRELOAD")) add_preloaded(preload, found);
  const std::vector<std::string> linked = linked_libraries(binary);
  for (const std::string& library : linked)
    if (is_known(library)) found.push_back(library + " (linked)");
  const auto file = ElfFile::open(binary);
  for (const char* mark : {"__asan_init", "__tsan_init", "__hwasan_init"})
    if (file && file->is_elf() && file->defines(mark)) found.push_back(binary + " (a sanitizer is linked in)");
  return found;
}

}  // namespace gt::interpose
