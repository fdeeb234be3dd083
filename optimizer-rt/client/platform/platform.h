// The one platform: all devices of all executors that answered, in the order of the configuration. It is called gtrace,
// or as the native platform of some of its devices (GTRACE_PLATFORM_NAME), which programs look for by name and vendor.
// Thread safety: any thread, but show_as_native(). A platform never changes once the program sees it, and lives as long
// as the process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimizer-rt/client/base/object.h"
#include "optimizer-rt/client/platform/extension_forms.h"
#include "optimizer-rt/client/session/session.h"

namespace gt::virt {

// What an executor told of one of its platforms.
struct NativePlatform {
  const Session* session = nullptr;
  ObjectId name = 0;
  std::map<cl_platform_info, Bytes> infos;  // without what we do not have
  std::vector<uint16_t> functions;          // of extensions (api::FnId)
  wire::PlatformTypes types;

  std::string text(cl_platform_info info) const;
};

}  // namespace gt::virt

struct _cl_platform_id : gt::virt::Object {
  static constexpr auto Kind = gt::virt::Type::Platform;
  static constexpr cl_int Invalid = CL_INVALID_PLATFORM;

  _cl_platform_id() : Object(Kind) {}
  std::vector<_cl_device_id*> devices;  // they live as long as the process
  std::vector<gt::virt::NativePlatform> natives;  // of the devices, in their order
  gt::virt::ExtensionForms forms;
  const gt::virt::NativePlatform* shown = nullptr;  // what it is called after; nullptr: gtrace

  bool has_function(gt::api::FnId function) const;  // of an extension: does some native platform have it?
};

namespace gt::virt {

// Connects on first use, to one executor after the other; who calls meanwhile waits. An executor that does not answer
// is left out, which a line on stderr says. Without any device there is no platform: nullptr.
_cl_platform_id* platform();
_cl_platform_id* connected_platform();  // without connecting, or waiting for who does: nullptr until then
// Before the program sees it: calls it as the native platforms of its devices, if they have one name and `name` is
// theirs, too (nullptr: whatever it is).
void show_as_native(const char* name);

}  // namespace gt::virt
