// The OpenCL functions that the executor calls by itself, with their types.
// Invariant: those for Staging and Executor are set once has_all() holds; those of shared virtual memory and of copies
// on a device where the driver has them.
// Thread safety: constant once made.
#pragma once

#include "transport/executor/base/functions.h"
#include "transport/opencl/cl_functions.h"

namespace gt::exec {

struct Cl : ClFunctions {
  explicit Cl(const Functions& all) {
#define GT_CL_FUNCTION(use, function) \
  this->function = reinterpret_cast<decltype(&::function)>(all[api::FnId::function]);
#include "transport/opencl/functions.def"
  }
  bool has_all() const { return has(Staging | Executor); }
  bool has_svm() const { return has(Svm); }

  // The answer to a query of a fixed size; T{} when the driver does not know.
  template <class T, class Query, class Of, class Name>
  static T ask(Query query, Of of, Name name) {
    T value{};
    return query(of, name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
  }
  // Over when not above CL_COMPLETE; an error is below it.
  cl_int status(cl_event event) const {
    cl_int status = CL_OUT_OF_RESOURCES;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return status;
  }
};

}  // namespace gt::exec
