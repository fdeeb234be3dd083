// The ICD's table of our functions, and the three symbols that the shared object exports.
#include <array>
#include <cstring>
#include <string_view>

#include "optimizer-rt/client/base/entry.h"
#include "optimizer-rt/client/later_forms.h"
#include "optimizer-rt/client/platform/platform.h"
#include "optimizer-rt/client/programs/kernel.h"
#include "optimizer-rt/client/session/sessions.h"
#include "optimizer-rt/client/transfer/migration_counts.h"
#include "traces/api/api.h"

namespace gt::virt {
namespace {

using api::FnId;

template <class Table>
constexpr Table make_dispatch() {
  Table table{};
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  if constexpr (requires { table.NAME; }) table.NAME = &Entry<FnId::NAME, &fn::NAME>::call;
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  return table;
}

const VirtualPlatform* meet_optimizer(const Optimizer* optimizer) noexcept {
  static constexpr VirtualPlatform us = {
      [](void* base, size_t bytes) noexcept { return deregister_everywhere(base, bytes); }};
  set_optimizer(optimizer);
  count_migrations_in(optimizer->moves);
  return &us;
}

// By function: programs call what their driver has without looking whether the extension is there, and get an error
// where they would jump to NULL.
const std::array<void*, api::FnCount>& entries() {
  static const auto all = [] {
    std::array<void*, api::FnCount> list{};
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE) \
  list[api::number(FnId::NAME)] = reinterpret_cast<void*>(&Entry<FnId::NAME, &fn::NAME>::call);
#define GT_CL_EXTENSION GT_CL_EXPORT
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
    return list;
  }();
  return all;
}

// What the native driver has of that name, as we have it. What loaders ask of drivers is ours alone to have.
void* function(const char* name) {
  if (std::string_view(name).starts_with("clIcd")) return nullptr;
  const uint16_t number = api::find_function(name);
  const _cl_platform_id* const platform = connected_platform();
  const auto id = static_cast<FnId>(number);
  if (number == 0 || !platform || !platform->has_function(id)) return nullptr;
  return platform->forms.is_later(id) ? later_form(id) : entries()[number];
}

bool has_later_form(const char* name) noexcept {
  const uint16_t number = api::find_function(name);
  const _cl_platform_id* const platform = connected_platform();
  return number != 0 && platform && platform->forms.is_later(static_cast<FnId>(number));
}

struct Extension {
  const char* name;
  void* address;
};

void* suggested_size() {
  return reinterpret_cast<void*>(
      &Entry<FnId::clGetKernelSuggestedLocalWorkSize, &fn::clGetKernelSuggestedLocalWorkSize>::call);
}

// Extension functions that go elsewhere, most of them a core function under another name; and one of 3.1, which loaders
// may lack.
const Extension* extensions() {
  static const Extension list[] = {
      {"clIcdGetPlatformIDsKHR",
       reinterpret_cast<void*>(&Entry<FnId::clGetPlatformIDs, &fn::clGetPlatformIDs>::call)},
      {"clGetPlatformInfo", reinterpret_cast<void*>(&Entry<FnId::clGetPlatformInfo, &fn::clGetPlatformInfo>::call)},
      // For goptimize: contexts without a platform of ours (--spread), and its report.
      {"gtrace_dispatch_table", const_cast<api::IcdDispatch*>(&dispatch_table)},
      {ShowAsNativeName,
       reinterpret_cast<void*>(static_cast<ShowAsNative>([](const char* name) noexcept { show_as_native(name); }))},
      {HasLaterFormName, reinterpret_cast<void*>(static_cast<HasLaterForm>(&has_later_form))},
      {MeetName, reinterpret_cast<void*>(static_cast<Meet>(&meet_optimizer))},
      {"clCreateProgramWithILKHR",
       reinterpret_cast<void*>(&Entry<FnId::clCreateProgramWithIL, &fn::clCreateProgramWithIL>::call)},
      {"clGetKernelSubGroupInfoKHR",
       reinterpret_cast<void*>(&Entry<FnId::clGetKernelSubGroupInfo, &fn::clGetKernelSubGroupInfo>::call)},
      {"clGetKernelSuggestedLocalWorkSize", suggested_size()},
      {"clGetKernelSuggestedLocalWorkSizeKHR", suggested_size()},
      {"clSetKernelArgDevicePointerEXT",
       reinterpret_cast<void*>(
           &Entry<FnId::clSetKernelArgDevicePointerEXT, &fn::clSetKernelArgDevicePointerEXT>::call)},
      {"clCreateCommandQueueWithPropertiesKHR",
       reinterpret_cast<void*>(
           &Entry<FnId::clCreateCommandQueueWithProperties, &fn::clCreateCommandQueueWithProperties>::call)},
      {nullptr, nullptr}};
  return list;
}

void* extension(const char* name) {
  if (!name) return nullptr;
  for (const Extension* e = extensions(); e->name; ++e) {
    if (std::strcmp(e->name, name) == 0) return e->address;
  }
  return function(name);
}

}  // namespace

constinit const api::IcdDispatch dispatch_table = make_dispatch<api::IcdDispatch>();

namespace fn {

void* clGetExtensionFunctionAddress(const char* name) { return extension(name); }
void* clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char* name) { return extension(name); }

}  // namespace fn
}  // namespace gt::virt

#define GT_SHOWN extern "C" __attribute__((visibility("default")))

GT_SHOWN cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id* platforms, cl_uint* count) {
  return gt::virt::dispatch_table.clGetPlatformIDs(n, platforms, count);
}
GT_SHOWN cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void* value,
                                              size_t* size_ret) {
  return gt::virt::dispatch_table.clGetPlatformInfo(platform, name, size, value, size_ret);
}
GT_SHOWN void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) { return gt::virt::extension(name); }
