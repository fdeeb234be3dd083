#include "optimizer-rt/goptimize/libc_plan.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tracer/interpose/entry_plan.h"
#include "tracer/interpose/program_file.h"

namespace gt::opt {

std::string libc_entries(const std::string& binary) {
  const std::string libc = interpose::find_library(binary, "libc.so.6");
  if (libc.empty()) return "";
  const auto use = [](std::string_view name) {
    constexpr std::string_view Wanted[] = {"free", "realloc", "malloc_usable_size", "sbrk", "brk"};
    return std::ranges::find(Wanted, name) != std::end(Wanted) ? interpose::EntryUse::Hook : interpose::EntryUse::None;
  };
  const auto plan = interpose::plan_entries(libc, use);
  return plan ? plan->text : "";
}

}  // namespace gt::opt
