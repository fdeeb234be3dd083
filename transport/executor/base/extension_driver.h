// The functions of extensions that a device's driver has, and which form of them: some have got other parameters since
// they were first declared. Ours have the form of the table (traces/api/gen/exports.inc), whatever the driver's is.
// Thread safety: constant once made.
#pragma once

#include <CL/cl_ext.h>

#include <memory>

#include "transport/executor/base/cl.h"

namespace gt::exec {

struct Session;

class ExtensionDriver {
 public:
  ExtensionDriver(const Session& session, cl_device_id device);

  // nullptr: the driver does not have it.
  AnyFunction operator[](api::FnId fn) const { return functions_[fn]; }
  // clCommand*KHR take a list of properties behind the queue, which the table does not know.
  bool commands_have_properties() const { return commands_have_properties_; }
  bool updates_are_lists() const { return updates_are_lists_; }

 private:
  Functions functions_;
  bool commands_have_properties_ = false, updates_are_lists_ = false;
};

}  // namespace gt::exec
