// What is known of a driver's habits: the answers to what habits.h asks. A sub-context keeps them.
// Thread safety: the mutex, which is never held while something is asked.
#pragma once

#include <CL/cl.h>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "traces/api/api.h"
#include "traces/base/mutex.h"

namespace gt::virt {

// As the program gave them; nothing: NULL.
using BuildOptions = std::optional<std::string>;

// How the kernels of a source came about: it was built with `source`, or compiled and then linked.
struct BuildWay {
  BuildOptions source;
  std::optional<BuildOptions> link;  // nothing: it was built
  auto operator<=>(const BuildWay&) const = default;
};

struct KnownHabits {
  using Region = std::array<uint64_t, 3>;

  Mutex mutex;
  std::map<std::pair<api::FnId, Region>, cl_int> on_nothing GT_GUARDED_BY(mutex);
  std::map<api::FnId, cl_int> on_nothing_shared GT_GUARDED_BY(mutex), on_uneven_slices GT_GUARDED_BY(mutex);
  std::map<std::pair<cl_mem_flags, bool>, bool> adds_access GT_GUARDED_BY(mutex);
  std::map<BuildWay, bool> keeps_arg_info GT_GUARDED_BY(mutex);
  std::map<int, bool> tidies_options GT_GUARDED_BY(mutex);
  bool gives_pointer GT_GUARDED_BY(mutex) = false;  // known as soon as what clEnqueueMapBuffer answers
};

}  // namespace gt::virt
