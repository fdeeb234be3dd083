// The outermost frame of each function: what programs call. Turns failures into the function's own way to report.
#pragma once

#include <new>
#include <type_traits>

#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/losses.h"
#include "optimizer-rt/client/base/object.h"
#include "traces/base/unwatched.h"

namespace gt::virt {

template <api::FnId F, auto Function>
struct Entry;
template <api::FnId F, class R, class... A, R (*Function)(A...)>
struct Entry<F, Function> {
  static R CL_API_CALL call(A... arguments) {
    const Unwatched unwatched;
    try {
      if constexpr (std::is_same_v<R, cl_int>) {
        const cl_int code = Function(arguments...);
        tell(code);
        return code;
      } else {
        return Function(arguments...);
      }
    } catch (const Failure& failure) {
      tell(failure.code);
      return api::failed_result<F, R>(failure.code, arguments...);
    } catch (const std::bad_alloc&) {
      return api::failed_result<F, R>(CL_OUT_OF_HOST_MEMORY, arguments...);
    }
  }

 private:
  static void tell(cl_int code) {
    if (code == CL_DEVICE_NOT_AVAILABLE) tell_losses();
  }
};

}  // namespace gt::virt
