#include "tracer/gtrace/record/own_functions.h"

#include <algorithm>
#include <set>

#include "tracer/interpose/elf_file.h"
#include "traces/api/api.h"

namespace gt::tracer {

namespace {

using interpose::EntryUse;

const std::set<std::string_view>& opencl_names() {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all;
    for (uint16_t fn = 0; fn < api::fn_count(); ++fn) all.insert(api::function_name(fn));
    return all;
  }();
  return names;
}

// reallocarray, valloc and pvalloc call one of these in every allocator, and are seen as that.
EntryUse allocation_use(std::string_view name) {
  static const std::set<std::string_view> hooked = {"malloc",   "calloc",        "realloc",       "free",
                                                    "memalign", "aligned_alloc", "posix_memalign"};
  if (hooked.count(name)) return EntryUse::Hook;
  return name == "malloc_usable_size" ? EntryUse::Known : EntryUse::None;
}

}  // namespace

interpose::EntryPlan plan_own_functions(const std::string& binary) {
  const auto elf = interpose::ElfFile::open(binary);
  if (!elf || !elf->has_interpreter()) return {};
  const bool loader = elf->text().find("OPENCL_LAYERS") != std::string_view::npos;
  // A sanitizer's allocator keeps books about every caller: it is left alone.
  const bool sanitized = elf->defines("__asan_init") || elf->defines("__tsan_init") || elf->defines("__msan_init");
  const auto use = [loader, sanitized](std::string_view name) {
    if (name.substr(0, 2) != "cl") return sanitized ? EntryUse::None : allocation_use(name);
    return !loader && opencl_names().count(name) ? EntryUse::Hook : EntryUse::None;
  };
  const auto plan = interpose::plan_entries(binary, use);
  return plan ? *plan : interpose::EntryPlan{};
}

}  // namespace gt::tracer
