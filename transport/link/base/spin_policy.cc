#include "transport/link/base/spin_policy.h"

#include "traces/base/processors.h"

namespace gt::wire {

bool may_spin() {
  static const bool may = usable_processors() > 2;
  return may;
}

}  // namespace gt::wire
