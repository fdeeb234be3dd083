// Built-in functions: the few that do less than their types allow.
#include "analyzer/kernels/builtins.h"

namespace gt::kernels {
namespace {

bool any_prefix(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view p : prefixes)
    if (name.starts_with(p)) return true;
  return false;
}

// The second argument of atomic_compare_exchange_* is read and written as well: read_write covers
// it.
bool only_writes(std::string_view name) {
  return any_prefix(name, {"vstore", "atomic_store", "atomic_init", "atomic_flag_clear", "write_image",
                           "async_work_group_copy", "async_work_group_strided_copy", "intel_sub_group_block_write",
                           "builtin_nontemporal_store", "builtin_memcpy", "builtin_memmove", "builtin_memset"}) ||
         name == "sincos" || name == "fract" || name == "modf" || name == "frexp" || name == "lgamma_r" ||
         name == "remquo";
}

bool only_reads(std::string_view name) {
  return any_prefix(name, {"vload", "read_image", "atomic_load", "intel_sub_group_block_read",
                           "builtin_nontemporal_load"});
}

bool touches_nothing(std::string_view name) {
  return any_prefix(name, {"get_image_", "get_fence", "get_pipe_"}) || name == "prefetch" || name == "to_global" ||
         name == "to_local" || name == "to_private";
}

// read_pipe, work_group_reserve_write_pipe, ...: the pipe comes first, a packet's memory later.
bool ends_with(std::string_view name, std::string_view end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

}  // namespace

Access builtin_access(std::string_view function, unsigned index, bool to_const) {
  while (function.starts_with("_")) function.remove_prefix(1);
  if (touches_nothing(function)) return Access::None;
  if (ends_with(function, "read_pipe")) return index == 0 ? Access::Read : Access::Write;
  if (ends_with(function, "write_pipe")) return index == 0 ? Access::Write : Access::Read;
  if (to_const || only_reads(function) || function == "printf") return Access::Read;
  return only_writes(function) ? Access::Write : Access::ReadWrite;
}

}  // namespace gt::kernels
