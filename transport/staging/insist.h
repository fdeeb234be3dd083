// Calls that nothing can be done without: a driver that is short of something may not be so the next time.
// Thread safety: that of the call.
#pragma once

#include <CL/cl.h>

namespace gt::staging {

template <class Call>
bool insist(Call call) noexcept {
  constexpr int MostTries = 100;
  for (int tries = 0; tries < MostTries; ++tries)
    if (call() == CL_SUCCESS) return true;
  return false;
}

}  // namespace gt::staging
