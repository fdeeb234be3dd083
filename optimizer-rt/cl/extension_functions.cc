// A function of ours for each of the table's, and the drivers' behind it.
#include "optimizer-rt/cl/extension_functions.h"

#include <CL/cl_ext.h>

#include <cstring>
#include <type_traits>

#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/usm.h"
#include "optimizer-rt/cl/virtual_platform.h"
#include "optimizer-rt/client/base/optimizer.h"
#include "traces/base/mutex.h"

namespace gt::opt {
namespace {

constexpr cl_uint MostLocal = 16;

enum class Extension : size_t {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) NAME,
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
  Count,
};

// By the table of functions that all handles of a driver begin with. Written once, before the program has the function.
struct Drivers {
  void* remote = nullptr;  // the virtual platform's
  cl_uint count = 0;
  struct {
    const void* table;
    void* function;
  } local[MostLocal];

  void* of(const void* handle) const noexcept {
    if (is_virtual(handle)) return remote;
    for (cl_uint i = 0; handle && i < count; ++i)
      if (local[i].table == *static_cast<const void* const*>(handle)) return local[i].function;
    return count != 0 ? local[0].function : remote;
  }
};
Drivers drivers[static_cast<size_t>(Extension::Count)];
Mutex finding;

template <class T>
concept Opaque = std::is_class_v<std::remove_cv_t<T>> && !requires { sizeof(T); };

// The handle that tells whose a call is: the first argument that is one, or a list of some.
struct Owner {
  const void* handle = nullptr;
  bool found = false;

  template <class T>
  void look(T argument) noexcept {
    if (found) return;
    if constexpr (std::is_pointer_v<T>) {
      using Pointed = std::remove_pointer_t<T>;
      if constexpr (Opaque<Pointed>) {
        handle = argument;
        found = true;
      } else if constexpr (std::is_pointer_v<Pointed>) {
        if constexpr (Opaque<std::remove_pointer_t<Pointed>>) {
          if (!argument) return;  // a list that may be left out
          handle = *argument;
          found = true;
        }
      }
    }
  }
};
template <class T>
constexpr bool may_tell() {
  if constexpr (!std::is_pointer_v<T>)
    return false;
  else if constexpr (Opaque<std::remove_pointer_t<T>>)
    return true;
  else if constexpr (std::is_pointer_v<std::remove_pointer_t<T>>)
    return Opaque<std::remove_pointer_t<std::remove_pointer_t<T>>>;
  else
    return false;
}
template <class R, class... A>
constexpr bool tells_owner(R (*)(A...)) {
  return (may_tell<A>() || ...);
}

void set_error(cl_int* error) {
  if (error) *error = CL_INVALID_OPERATION;
}
template <class T>
void set_error(T) {}

template <class R, class... A>
R forward(Extension extension, R (*)(A...), A... arguments) {
  Owner owner;
  (owner.look(arguments), ...);
  void* const function = drivers[static_cast<size_t>(extension)].of(owner.handle);
  if (function) return reinterpret_cast<R (*)(A...)>(function)(arguments...);
  (set_error(arguments), ...);
  if constexpr (std::is_same_v<R, cl_int>)
    return CL_INVALID_OPERATION;
  else if constexpr (!std::is_void_v<R>)
    return nullptr;
}

// Hands forward() its arguments as the prototype declares them.
template <class R, class... A>
struct Forwarder {
  Extension extension;
  R (*type)(A...);
  R operator()(A... arguments) const { return forward<R, A...>(extension, type, arguments...); }
};
template <class R, class... A>
Forwarder<R, A...> forwarder(Extension extension, R (*type)(A...)) {
  return {extension, type};
}

namespace ours {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE) \
  RET CL_API_CALL NAME PARAMS { return forwarder(Extension::NAME, &ours::NAME) ARGS; }
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
}  // namespace ours

// Functions whose parameters have changed since the table's headers: what records into a command buffer has got
// properties behind the queue, an update has become an array (docs/decisions/0043). nullptr: there is no other form.
template <Extension E, class F>
struct LaterForm {
  static constexpr void* function() { return nullptr; }
};
template <Extension E, class... A>
struct LaterForm<E, cl_int (*)(cl_command_buffer_khr, cl_command_queue, A...)> {
  static cl_int CL_API_CALL call(cl_command_buffer_khr buffer, cl_command_queue queue, const cl_properties* properties,
                                 A... arguments) {
    using Function = cl_int (*)(cl_command_buffer_khr, cl_command_queue, const cl_properties*, A...);
    return forward<cl_int>(E, Function{nullptr}, buffer, queue, properties, arguments...);
  }
  static void* function() {
    return E == Extension::clCommandNDRangeKernelKHR ? nullptr : reinterpret_cast<void*>(&call);
  }
};
template <>
struct LaterForm<Extension::clUpdateMutableCommandsKHR,
                 cl_int (*)(cl_command_buffer_khr, const cl_mutable_base_config_khr*)> {
  using Function = cl_int (*)(cl_command_buffer_khr, cl_uint, const cl_uint*, const void**);
  static cl_int CL_API_CALL call(cl_command_buffer_khr buffer, cl_uint n, const cl_uint* types, const void** configs) {
    return forward<cl_int>(Extension::clUpdateMutableCommandsKHR, Function{nullptr}, buffer, n, types, configs);
  }
  static void* function() { return reinterpret_cast<void*>(&call); }
};

struct Row {
  const char* name;
  void* function;
  bool tells_owner;
  void* later_form;
};
const Row rows[] = {
#define GT_CL_EXPORT(NAME, RET, PARAMS, ARGS, SINCE)
#define GT_CL_EXTENSION(NAME, RET, PARAMS, ARGS, SINCE)                   \
  {#NAME, reinterpret_cast<void*>(&ours::NAME), tells_owner(&ours::NAME), \
   LaterForm<Extension::NAME, decltype(&ours::NAME)>::function()},
#include "traces/api/gen/exports.inc"
#undef GT_CL_EXPORT
#undef GT_CL_EXTENSION
};

Drivers find(cl_platform_id shown, const char* name) noexcept {
  Drivers found;
  const auto address = GT_REAL(clGetExtensionFunctionAddressForPlatform);
  cl_platform_id platforms[MostLocal];
  const cl_uint count = local_platforms(platforms, MostLocal);
  for (cl_uint i = 0; address && i < count; ++i)
    if (void* const own = address(platforms[i], name); own || usm_function(name))
      found.local[found.count++] = {*reinterpret_cast<const void* const*>(platforms[i]),
                                    own ? own : usm_function(name)};
  const cl_icd_dispatch* const table = virtual_table.load(std::memory_order_acquire);
  if (table && table->clGetExtensionFunctionAddressForPlatform)
    found.remote = table->clGetExtensionFunctionAddressForPlatform(shown, name);
  return found;
}

// On remote devices; local ones of another form are called wrongly there, as the address is one for both.
bool has_later_form(const char* name) noexcept {
  const cl_icd_dispatch* const table = virtual_table.load(std::memory_order_acquire);
  if (!table || !table->clGetExtensionFunctionAddress) return false;
  const auto ask = reinterpret_cast<virt::HasLaterForm>(table->clGetExtensionFunctionAddress(virt::HasLaterFormName));
  return ask && ask(name);
}

}  // namespace

bool extension_function(cl_platform_id platform, const char* name, void** result) noexcept {
  if (!platform || !name || platform != remote_platform()) return false;
  const Drivers found = find(platform, name);
  void* const any = found.count != 0 ? found.local[0].function : found.remote;
  *result = any;
  if (!any) return true;
  if (void* const symbol = exported(name)) *result = symbol;
  for (size_t i = 0; i < std::size(rows); ++i) {
    if (std::strcmp(rows[i].name, name) != 0) continue;
    finding.lock();
    drivers[i] = found;
    finding.unlock();
    void* const function = rows[i].later_form && has_later_form(name) ? rows[i].later_form : rows[i].function;
    *result = rows[i].tells_owner ? function : found.remote ? found.remote : any;
  }
  return true;
}

}  // namespace gt::opt
