// What cannot go to another node: CL_INVALID_OPERATION, as a device says that lacks the feature. Weak: a function that
// is defined elsewhere takes the place of the one here.
#include "optimizer-rt/client/base/functions.h"

namespace gt::virt::fn {
namespace {

template <api::FnId F, class R, class... A>
R refuse(A... arguments) {
  return api::failed_result<F, R>(CL_INVALID_OPERATION, arguments...);
}

}  // namespace

#define GT_ARGS(...) __VA_OPT__(, ) __VA_ARGS__
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  __attribute__((weak)) RET NAME PARAMS { return refuse<api::FnId::NAME, RET> ARGS; }
#define GT_CL_EXTENSION GT_CL_EXPORT
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION

}  // namespace gt::virt::fn
