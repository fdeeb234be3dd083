// How often and how much contents have gone from sub-context to sub-context, by the way that they took.
// Thread safety: any thread, but for count_migrations_in().
#pragma once

#include "transport/memory/move_counts.h"

namespace gt::virt {

// From the start, or into memory of goptimize's, which must stay until the process ends.
memory::MoveCounts& migration_counts();
void count_migrations_in(memory::MoveCounts* there);

}  // namespace gt::virt
