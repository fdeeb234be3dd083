#include "tracer/interpose/replaced_operators.h"

#include <algorithm>
#include <string_view>

#include "tracer/interpose/loaded_symbols.h"

namespace gt::interpose {

constinit std::atomic<Operators> operators{Operators::Unknown};

static_assert(sizeof(size_t) == sizeof(unsigned long), "the names below say m for size_t");
constexpr const char* const OperatorNames[OperatorCount] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};
static_assert(std::string_view(OperatorNames[OperatorCount - 1]) == "_ZdaPvSt11align_val_tRKSt9nothrow_t");

// Whoever comes before us among the modules comes before us in the global scope. The first call of an allocation
// function comes here, perhaps from within another interposer, under a lock of his that his dlopen and dlclose take,
// too: so the modules' own tables are read.
void find_operators() {
  const link_map* const ours = own_module();
  bool replaced = false;
  for (const link_map* m = first_module(); ours && m && m != ours && !replaced; m = m->l_next)
    replaced = std::ranges::any_of(OperatorNames, [m](const char* name) { return defines(*m, name); });
  operators.store(replaced ? Operators::Replaced : Operators::Ours, std::memory_order_release);
}

}  // namespace gt::interpose
