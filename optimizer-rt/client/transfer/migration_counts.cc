#include "optimizer-rt/client/transfer/migration_counts.h"

#include <atomic>

namespace gt::virt {
namespace {

memory::MoveCounts g_own_counts;
std::atomic<memory::MoveCounts*> g_counts{&g_own_counts};

}  // namespace

memory::MoveCounts& migration_counts() { return *g_counts; }
void count_migrations_in(memory::MoveCounts* there) { g_counts = there; }

}  // namespace gt::virt
