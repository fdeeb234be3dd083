#include "tracer/interpose/operators.h"

#include <dlfcn.h>
#include <link.h>

#include <iterator>
#include <new>

#include "tracer/interpose/doors.h"
#include "tracer/interpose/libc_alloc.h"

namespace gt::interpose {

constinit std::atomic<Operators> operators{Operators::Unknown};

namespace {

using api::AllocFn;

static_assert(sizeof(size_t) == sizeof(unsigned long), "the names below say m for size_t");
// In the order of AllocFn, from New on.
constexpr const char* OperatorNames[] = {
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
constexpr auto FirstOperator = static_cast<size_t>(AllocFn::New);
static_assert(static_cast<size_t>(AllocFn::DeleteArrayAlignedNothrow) - FirstOperator + 1 ==
              std::size(OperatorNames));

// The global scope first, then what the caller itself depends on: a plug-in may have brought the
// C++ runtime along.
void* runtime_symbol(const char* name, const void* site) {
  if (void* found = next_symbol(name)) return found;
  Dl_info info;
  void* caller = nullptr;
  if (!dladdr1(site, &info, &caller, RTLD_DL_LINKMAP) || !caller) return nullptr;
  void* found = dlsym(caller, name);  // glibc: a link_map is what dlopen returns
  if (!found) dlerror();
  return found && !is_our_module(found) ? found : nullptr;
}

std::new_handler new_handler(const void* site) {
  using Get = std::new_handler (*)();
  auto get = reinterpret_cast<Get>(runtime_symbol("_ZSt15get_new_handlerv", site));
  return get ? get() : nullptr;
}

}  // namespace

void find_operators() {
  // Not RTLD_DEFAULT: in a library that is linked with -Bsymbolic that begins with the library
  // itself.
  void* program = real_dlopen(nullptr, RTLD_LAZY);
  bool ours = true;
  for (const char* name : OperatorNames) {
    const void* first = program ? dlsym(program, name) : nullptr;
    if (!first) dlerror();
    ours = ours && (!first || is_our_module(first));
  }
  if (program) dlclose(program);
  operators.store(ours ? Operators::Ours : Operators::Replaced, std::memory_order_release);
}

bool operators_step_aside() {
  resolve_libc();
  return operators.load(std::memory_order_acquire) == Operators::Replaced;
}

void* runtime_operator(AllocFn fn, const void* site) {
  return runtime_symbol(OperatorNames[static_cast<size_t>(fn) - FirstOperator], site);
}

bool has_new_handler(const void* site) { return new_handler(site) != nullptr; }

void call_new_handler_or_throw(const void* site) {
  if (std::new_handler handler = new_handler(site)) return handler();
  using New = void* (*)(size_t);
  if (auto runtime_new = reinterpret_cast<New>(runtime_operator(AllocFn::New, site))) {
    runtime_new(
        DoomedBytes);  // throws; returns only if a handler was set meanwhile and found the memory
    return;
  }
  throw std::bad_alloc();  // no other C++ runtime in sight
}

}  // namespace gt::interpose
