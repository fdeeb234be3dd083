#include "transport/executor/base/functions.h"

#include <dlfcn.h>

#include "traces/api/api.h"

namespace gt::exec {

Functions functions_of(void* library) {
  Functions all;
  for (uint16_t fn = 1; fn < api::fn_count(); ++fn) {
    const api::FnInfo& info = api::fn_info(fn);
    if (info.params) all.of[fn] = reinterpret_cast<AnyFunction>(::dlsym(library, info.name));
  }
  return all;
}

}  // namespace gt::exec
