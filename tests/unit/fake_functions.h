// The fake driver's functions, as an executor takes a driver.
#pragma once

#include "tests/fake_cl/driver.h"
#include "transport/executor/base/functions.h"

namespace gt::exec {

inline Functions fake_driver() {
  Functions all;
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) all.of[fn] = fake::exported(static_cast<api::FnId>(fn));
  return all;
}

}  // namespace gt::exec
