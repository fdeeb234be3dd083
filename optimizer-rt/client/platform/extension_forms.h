// Which form functions of an extension have that has changed them: a function has one address for all devices of the
// platform, so the first device that lists the extension decides, and devices of another form do not list it.
// Thread safety: settle() while the platform is being connected, or for a part of a device, whose form is settled; the
// rest after.
#pragma once

#include <CL/cl_ext.h>

#include <array>
#include <vector>

#include "traces/api/fn_id.h"
#include "transport/protocol/messages.h"

namespace gt::virt {

class ExtensionForms {
 public:
  // Of a device: takes extensions of another form than the first one's out of what it tells.
  void settle(std::vector<wire::InfoValue>& infos);
  // Do programs know the function in its later form?
  bool is_later(api::FnId function) const;

 private:
  enum class Form : uint8_t { Unknown, Table, Later };
  std::array<Form, 2> forms_{};  // by extension
};

}  // namespace gt::virt
