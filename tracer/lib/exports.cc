// The OpenCL symbols that the program links to, and the wrappers of extension functions.
#include <cstddef>
#include <cstring>

#include "tracer/lib/adapted.h"
#include "tracer/lib/extension_closure.h"
#include "tracer/lib/layer.h"
#include "traces/api/icd_dispatch.h"

namespace {

using gt::api::FnId;

// Calls traced<F>() with the arguments as the program gave them; R and A follow from F's C
// prototype.
template <FnId F, class R>
struct Wrapper {
  const void* site;
  const void* stack;
  template <class... A>
  R operator()(A... args) const noexcept {
    return gt::tracer::traced<F, R>(site, stack, args...);
  }
};

}  // namespace

#define GT_WRAPPER(NAME, RET, ARGS) \
  return Wrapper<FnId::NAME, RET>{__builtin_return_address(0), __builtin_frame_address(0)} ARGS;

#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  extern "C" __attribute__((visibility("default"))) RET CL_API_CALL NAME PARAMS { GT_WRAPPER(NAME, RET, ARGS) }
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) \
  static RET CL_API_CALL extension_##NAME PARAMS { GT_WRAPPER(NAME, RET, ARGS) }
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION

namespace gt::tracer {

namespace {

template <class R, class... A>
ExtensionWrapper wrapper(const char* name, FnId fn, R (*function)(A...)) {
  return {name, fn, reinterpret_cast<void*>(function), &signature<R, A...>};
}

const ExtensionWrapper g_wrappers[] = {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) wrapper(#NAME, FnId::NAME, extension_##NAME),
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
};

}  // namespace

const ExtensionWrapper* find_extension_wrapper(const char* name) {
  for (const ExtensionWrapper& w : g_wrappers) {
    if (name && std::strcmp(w.name, name) == 0) return &w;
  }
  return nullptr;
}

namespace {

// The place of a member of cl_icd_dispatch; the installed header may be older than our table.
#define GT_SLOT(NAME)                                    \
  []<class Installed, class Whole>(Installed*, Whole*) { \
    if constexpr (requires { &Installed::NAME; }) {      \
      return offsetof(Installed, NAME) / sizeof(void*);  \
    } else if constexpr (requires { &Whole::NAME; }) {   \
      return gt::api::LastIcdSlot;                       \
    } else {                                             \
      return LayerSlot::None;                            \
    }                                                    \
  }(static_cast<cl_icd_dispatch*>(nullptr), static_cast<gt::api::IcdDispatch*>(nullptr))

const LayerSlot g_layer_slots[] = {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) {FnId::NAME, GT_SLOT(NAME), reinterpret_cast<void*>(&::NAME)},
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) \
  {FnId::NAME, GT_SLOT(NAME), reinterpret_cast<void*>(extension_##NAME)},
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
};

}  // namespace

std::span<const LayerSlot> layer_slots() { return g_layer_slots; }

}  // namespace gt::tracer
