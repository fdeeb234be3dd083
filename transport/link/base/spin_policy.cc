#include "transport/link/base/spin_policy.h"

#include "transport/staging/processors.h"

namespace gt::wire {

bool may_spin() {
  static const bool may = staging::usable_processors() > 2;
  return may;
}

}  // namespace gt::wire
