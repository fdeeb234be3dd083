#include "optimizer-rt/client/platform/platform.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "optimizer-rt/client/base/configuration.h"
#include "optimizer-rt/client/base/functions.h"
#include "optimizer-rt/client/base/info.h"
#include "optimizer-rt/client/platform/device.h"
#include "optimizer-rt/client/session/connection.h"
#include "optimizer-rt/client/session/sessions.h"

bool _cl_platform_id::has_function(gt::api::FnId function) const {
  const auto number = gt::api::number(function);
  return std::any_of(natives.begin(), natives.end(), [number](const gt::virt::NativePlatform& n) {
    return std::find(n.functions.begin(), n.functions.end(), number) != n.functions.end();
  });
}

namespace gt::virt {
namespace {

void say(const std::string& url, const Status& why) {
  const std::string text = why.text(), place = url + ": ";  // a link's error begins with its place
  const std::string line = "gtrace: no devices from " + (text.starts_with(place) ? text : place + text) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void add_devices(_cl_platform_id& to, Session& session, wire::Surveyed& surveyed) {
  for (wire::SurveyedDevice& d : surveyed.devices) {
    to.forms.settle(d.infos);
    auto* device = new _cl_device_id(session, d.id, d.platform);
    for (const wire::InfoValue& info : d.infos) device->learn(info.name, info.value);
    to.devices.push_back(device);
  }
}

void add_platforms(_cl_platform_id& to, const Session& session, const wire::Surveyed& surveyed) {
  for (const wire::SurveyedPlatform& p : surveyed.platforms) {
    NativePlatform& native = to.natives.emplace_back();
    native.session = &session;
    native.name = p.id;
    for (const wire::InfoValue& info : p.infos) native.infos[info.name] = info.value;
    for (const wire::PlatformFunctions& known : surveyed.functions)
      if (known.platform == p.id) native.functions = known.functions;
    for (const wire::PlatformTypes& known : surveyed.types)
      if (known.platform == p.id) native.types = known;
  }
}

void connect(_cl_platform_id& to, const std::string& url) {
  Result<Connection> connection = connect_to(url);
  if (!connection.ok()) return say(url, connection.status());
  wire::Surveyed surveyed;
  const Result<Session*> session = open_session(std::move(*connection), surveyed);
  if (!session.ok()) return say(url, session.status());
  add_devices(to, **session, surveyed);
  add_platforms(to, **session, surveyed);
}

constexpr const char* OwnSuffix = "GTRACE";

std::atomic<_cl_platform_id*> g_platform{nullptr};  // others look while it is being connected

void connect_all() {
  auto* made = new _cl_platform_id;
  for (const std::string& url : remote_urls()) connect(*made, url);
  if (made->devices.empty()) return;
  g_platform = made;
  if (naming() == Naming::Native && !made->natives.empty()) made->shown = &made->natives[0];
  if (naming() == Naming::Auto) show_as_native(nullptr);
}

// A device's answer, of the native platform that the platform is called after.
cl_int native_info(const NativePlatform& native, cl_platform_info name, const Answer& answer) {
  const auto it = native.infos.find(name);
  if (name == CL_PLATFORM_ICD_SUFFIX_KHR && it == native.infos.end()) return answer.text(OwnSuffix);
  require(it != native.infos.end(), CL_INVALID_VALUE);
  return answer.bytes(it->second);
}

}  // namespace

_cl_platform_id* platform() {
  static std::once_flag once;
  std::call_once(once, &connect_all);
  return g_platform;
}
_cl_platform_id* connected_platform() { return g_platform; }

void show_as_native(const char* name) {
  _cl_platform_id* const platform = g_platform;
  if (!platform || platform->natives.empty()) return;
  const NativePlatform& first = platform->natives[0];
  const std::string called = first.text(CL_PLATFORM_NAME);
  const auto same = [&](const NativePlatform& n) { return n.text(CL_PLATFORM_NAME) == called; };
  const bool one = std::all_of(platform->natives.begin(), platform->natives.end(), same);
  platform->shown = one && !called.empty() && (!name || called == name) ? &first : nullptr;
}

std::string NativePlatform::text(cl_platform_info info) const {
  const auto it = infos.find(info);
  if (it == infos.end()) return {};
  const std::string_view all = as_text(it->second);
  return std::string(all.substr(0, all.find('\0')));
}

namespace fn {

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id* platforms, cl_uint* count) {
  require((n != 0 || !platforms) && (platforms || count), CL_INVALID_VALUE);
  _cl_platform_id* const p = platform();
  if (count) *count = p ? 1 : 0;
  constexpr cl_int NoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  if (!p) return NoPlatform;
  if (platforms) *platforms = p;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t room, void* value, size_t* size_ret) {
  check(platform);
  const Answer answer(room, value, size_ret);
  if (platform->shown) return native_info(*platform->shown, name, answer);
  switch (name) {
    case CL_PLATFORM_PROFILE:
      return answer.text("FULL_PROFILE");
    case CL_PLATFORM_VERSION:
      return answer.text("OpenCL 3.0 gtrace " GT_VERSION);
    case CL_PLATFORM_NUMERIC_VERSION:
      return answer.value<cl_version>(CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME:
    case CL_PLATFORM_VENDOR:
      return answer.text("gtrace");
    case CL_PLATFORM_EXTENSIONS:
      return answer.text("cl_khr_icd");
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
      return answer.value(cl_name_version{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"});
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
      return answer.value<cl_ulong>(1);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return answer.text(OwnSuffix);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
  check(platform);
  return CL_SUCCESS;
}
cl_int clUnloadCompiler() { return CL_SUCCESS; }

}  // namespace fn
}  // namespace gt::virt
