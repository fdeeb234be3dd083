// The list of devices, and whose a context is.
#include "optimizer-rt/cl/virtual_platform.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "optimizer-rt/cl/asking.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/shared_pool.h"
#include "optimizer-rt/pool/runtime.h"

namespace gt::opt {

namespace {

constexpr cl_uint MostPlatforms = 32, MostDevices = 1024;
constexpr size_t MostProperties = 64;

void complain(const char* what, const char* more) {
  char line[512];
  const int n = std::snprintf(line, sizeof line, "goptimize: %s%s%s; only local devices are there\n", what,
                              more ? ": " : "", more ? more : "");
  if (n > 0) (void)!::write(STDERR_FILENO, line, std::min(static_cast<size_t>(n), sizeof line - 1));
}

struct ListedDevice {
  cl_device_id id = nullptr;
  cl_platform_id platform = nullptr;  // the driver's own; the virtual one of virtual devices
  cl_device_type type = 0;
};

// Everything is made once, by the first who asks; constant afterwards.
class DeviceList {
 public:
  void make() noexcept {
    const char* const library = std::getenv(VirtualLibraryVariable);
    if (!library || !*library || !open(library)) return;
    const char* const spread = std::getenv(SpreadVariable);
    spreads_ = spread && std::strcmp(spread, "1") == 0;
    if (virtual_) list_devices();
    if (runtime.active()) runtime.counters().remote_devices.store(remote_count(), std::memory_order_relaxed);
    if (spreads_ || platform()) virtual_table.store(table_, std::memory_order_release);
  }

  // Of a run with remote devices; nullptr: it has none.
  cl_platform_id platform() const noexcept { return count_ != 0 ? virtual_ : nullptr; }
  const cl_icd_dispatch* table() const noexcept { return table_; }
  bool spreads() const noexcept { return spreads_; }

  template <class Visit>
  void for_each(cl_device_type type, Visit visit) const noexcept {
    for (cl_uint i = 0; i < count_; ++i)
      if (matches(i, type)) visit(devices_[i]);
  }
  cl_uint local_platforms(cl_platform_id* out, cl_uint room) const noexcept {
    cl_uint n = 0;
    for (cl_uint i = 0; i < count_ && n < room; ++i)
      if (devices_[i].platform != virtual_ && std::find(out, out + n, devices_[i].platform) == out + n)
        out[n++] = devices_[i].platform;
    return n;
  }
  // The driver's platform of a local device that is listed (or of a part of one); nullptr: of none.
  static cl_platform_id platform_of(cl_device_id device) noexcept {
    cl_platform_id platform = nullptr;
    if (!device || GT_REAL(clGetDeviceInfo)(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != 0)
      return nullptr;
    return platform;
  }

 private:
  void list_devices() noexcept {
    const char* const order = std::getenv(OrderVariable);
    const bool remote_first = order && std::strcmp(order, "remote-first") == 0;
    if (remote_first) add(virtual_);
    add_local();
    if (!remote_first) add(virtual_);
    keep_chosen();
    if (show_) show_name();
    if (count_ == 0) complain("no device is left by --only", std::getenv(OnlyVariable));
  }

  // Local devices of the list must be of the platform that the remote ones are of, or it is called gtrace.
  void show_name() const noexcept {
    cl_platform_id platforms[MostPlatforms];
    const cl_uint count = local_platforms(platforms, MostPlatforms);
    char first[256] = {}, name[256];
    for (cl_uint i = 0; i < count; ++i) {
      std::memset(name, 0, sizeof name);
      GT_REAL(clGetPlatformInfo)(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
      if (i == 0) std::memcpy(first, name, sizeof first);
      if (std::strcmp(name, first) != 0) return show_("");
    }
    if (count != 0) show_(first);
  }

  bool open(const char* library) noexcept {
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      complain("no remote devices", ::dlerror());
      return false;
    }
    const auto platforms = reinterpret_cast<decltype(&::clIcdGetPlatformIDsKHR)>(
        ::dlsym(handle, "clIcdGetPlatformIDsKHR"));
    const auto function = reinterpret_cast<decltype(&::clGetExtensionFunctionAddress)>(
        ::dlsym(handle, "clGetExtensionFunctionAddress"));
    if (function) table_ = static_cast<const cl_icd_dispatch*>(function("gtrace_dispatch_table"));
    const char* const naming = std::getenv(NamingVariable);
    if (function && naming && std::strcmp(naming, "auto") == 0)
      show_ = reinterpret_cast<virt::ShowAsNative>(function(virt::ShowAsNativeName));
    if (function) meet_virtual_platform(reinterpret_cast<virt::Meet>(function(virt::MeetName)));
    cl_uint count = 0;
    if (platforms && platforms(1, &virtual_, &count) != CL_SUCCESS) virtual_ = nullptr;  // it has said why
    return table_ != nullptr;
  }

  cl_uint remote_count() const noexcept {
    cl_uint n = 0;
    for (cl_uint i = 0; i < count_; ++i) n += devices_[i].platform == virtual_;
    return n;
  }

  void add_local() noexcept {
    cl_platform_id platforms[MostPlatforms];
    cl_uint count = 0;
    const auto list = GT_REAL(clGetPlatformIDs);
    if (!list || list(MostPlatforms, platforms, &count) != CL_SUCCESS) return;
    for (cl_uint i = 0; i < std::min(count, MostPlatforms); ++i)
      if (*reinterpret_cast<const cl_icd_dispatch* const*>(platforms[i]) != table_) add(platforms[i]);
  }

  void add(cl_platform_id platform) noexcept {
    cl_device_id ids[MostDevices];
    cl_uint count = 0;
    const cl_device_type every = CL_DEVICE_TYPE_ALL | CL_DEVICE_TYPE_CUSTOM;
    if (GT_REAL(clGetDeviceIDs)(platform, every, MostDevices, ids, &count) != CL_SUCCESS) return;
    for (cl_uint i = 0; i < std::min(count, MostDevices) && count_ < MostDevices; ++i) {
      cl_device_type type = 0;
      GT_REAL(clGetDeviceInfo)(ids[i], CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      devices_[count_++] = {ids[i], platform, type};
    }
  }

  // --only: "local", "remote", numbers in the list, patterns of names, joined by commas.
  void keep_chosen() noexcept {
    const char* const only = std::getenv(OnlyVariable);
    if (!only || !*only) return;
    cl_uint kept = 0;
    for (cl_uint i = 0; i < count_; ++i)
      if (is_chosen(i, only)) devices_[kept++] = devices_[i];
    count_ = kept;
  }
  bool is_chosen(cl_uint i, const char* only) const noexcept {
    char name[256] = {}, word[256];
    GT_REAL(clGetDeviceInfo)(devices_[i].id, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    for (const char* at = only; at; at = std::strchr(at, ','), at = at ? at + 1 : nullptr) {
      const size_t length = std::min(std::strcspn(at, ","), sizeof word - 1);
      std::memcpy(word, at, length);
      word[length] = 0;
      if (names(word, i, name)) return true;
    }
    return false;
  }
  bool names(const char* word, cl_uint i, const char* name) const noexcept {
    const bool remote = devices_[i].platform == virtual_;
    if (std::strcmp(word, "local") == 0) return !remote;
    if (std::strcmp(word, "remote") == 0) return remote;
    char* end = nullptr;
    const unsigned long number = std::strtoul(word, &end, 10);
    if (end != word && *end == 0) return number == i;
    return ::fnmatch(word, name, 0) == 0 || std::strstr(name, word) != nullptr;
  }

  bool matches(cl_uint i, cl_device_type type) const noexcept {
    if (type == CL_DEVICE_TYPE_DEFAULT) return i == 0;
    if (type == CL_DEVICE_TYPE_ALL) return !(devices_[i].type & CL_DEVICE_TYPE_CUSTOM);
    return (devices_[i].type & type & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT}) ||
           ((type & CL_DEVICE_TYPE_DEFAULT) && i == 0);
  }

  const cl_icd_dispatch* table_ = nullptr;
  cl_platform_id virtual_ = nullptr;
  bool spreads_ = false;
  virt::ShowAsNative show_ = nullptr;  // where it depends on local devices, too
  cl_uint count_ = 0;
  ListedDevice devices_[MostDevices];
};

constinit DeviceList list;
pthread_once_t made = PTHREAD_ONCE_INIT;

bool has_virtual_contexts() noexcept {
  ::pthread_once(&made, [] { list.make(); });
  return virtual_table.load(std::memory_order_acquire) != nullptr;
}
bool has_remote_devices() noexcept { return has_virtual_contexts() && list.platform(); }
// Without making the list.
cl_platform_id shown_platform() noexcept {
  return virtual_table.load(std::memory_order_acquire) ? list.platform() : nullptr;
}

// The platform that the properties ask for; nullptr: none.
cl_platform_id asked_platform(const cl_context_properties* properties) noexcept {
  for (; properties && properties[0]; properties += 2)
    if (properties[0] == CL_CONTEXT_PLATFORM) return reinterpret_cast<cl_platform_id>(properties[1]);
  return nullptr;
}

// The same properties with a driver's platform in place of ours.
class NativeProperties {
 public:
  NativeProperties(const cl_context_properties* properties, cl_platform_id native) noexcept : given_(properties) {
    size_t n = 0;
    for (; properties && properties[n] && n + 2 < MostProperties; n += 2) {
      copy_[n] = properties[n];
      const bool ours = properties[n] == CL_CONTEXT_PLATFORM &&
                        reinterpret_cast<cl_platform_id>(properties[n + 1]) == list.platform();
      copy_[n + 1] = ours ? reinterpret_cast<cl_context_properties>(native) : properties[n + 1];
    }
    copy_[n] = 0;
    fits_ = !properties || properties[n] == 0;
  }
  const cl_context_properties* get() const noexcept { return given_ && fits_ ? copy_ : given_; }

 private:
  const cl_context_properties* given_;
  cl_context_properties copy_[MostProperties + 1];
  bool fits_ = false;
};

// The one driver's platform that all devices are of; nullptr: there is none.
cl_platform_id common_platform(cl_uint count, const cl_device_id* devices) noexcept {
  cl_platform_id common = nullptr;
  for (cl_uint i = 0; i < count; ++i) {
    if (is_virtual(devices[i])) return nullptr;
    const cl_platform_id platform = DeviceList::platform_of(devices[i]);
    if (!platform || (common && platform != common)) return nullptr;
    common = platform;
  }
  return common;
}

// Nothing in the properties but what every context knows: no sharing with graphics.
bool are_plain(const cl_context_properties* properties) noexcept {
  for (; properties && properties[0]; properties += 2)
    if (properties[0] != CL_CONTEXT_PLATFORM) return false;
  return true;
}

// Several devices of one driver, none of them a part of another.
bool is_worth_spreading(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices) noexcept {
  if (!list.spreads() || !are_plain(properties) || !common_platform(count, devices)) return false;
  bool several = false;
  for (cl_uint i = 0; i < count; ++i) {
    cl_device_id parent = nullptr;
    GT_REAL(clGetDeviceInfo)(devices[i], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr);
    if (parent) return false;
    several = several || devices[i] != devices[0];
  }
  return several;
}

cl_context create_virtual(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                          ContextNotify notify, void* data, cl_int* error) noexcept {
  return list.table()->clCreateContext(properties, count, devices, notify, data, error);
}

cl_context create(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                  ContextNotify notify, void* data, cl_int* error) noexcept {
  const cl_platform_id native = common_platform(count, devices);
  if (!native) {
    const cl_context spanning = create_virtual(properties, count, devices, notify, data, error);
    if (spanning && runtime.active()) add(runtime.counters().remote_contexts, 1);
    return spanning;
  }
  learn_devices(count, devices);
  if (is_worth_spreading(properties, count, devices)) {
    if (const cl_context spread = create_virtual(properties, count, devices, notify, data, error)) return spread;
  }
  const NativeProperties own(properties, native);
  return GT_REAL(clCreateContext)(own.get(), count, devices, notify, data, error);
}

// The devices of a type: of the list, or (without remote devices) of the driver that would have been asked.
cl_uint devices_of_type(cl_platform_id asked, cl_device_type type, cl_device_id* devices) noexcept {
  cl_uint count = 0;
  if (list.platform()) {
    list.for_each(type, [&](const ListedDevice& d) { devices[count++] = d.id; });
    return count;
  }
  if (!asked && GT_REAL(clGetPlatformIDs)(1, &asked, nullptr) != CL_SUCCESS) return 0;
  const bool found = GT_REAL(clGetDeviceIDs)(asked, type, MostDevices, devices, &count) == CL_SUCCESS;
  return found ? std::min(count, MostDevices) : 0;
}

}  // namespace

cl_platform_id remote_platform() noexcept { return has_remote_devices() ? list.platform() : nullptr; }

cl_uint local_platforms(cl_platform_id* out, cl_uint room) noexcept { return list.local_platforms(out, room); }

bool virtual_platform_ids(cl_uint entries, cl_platform_id* platforms, cl_uint* count, cl_int* result) noexcept {
  if (!has_remote_devices()) return false;
  if ((platforms && entries == 0) || (!platforms && !count)) {
    *result = CL_INVALID_VALUE;
    return true;
  }
  if (platforms) platforms[0] = list.platform();
  if (count) *count = 1;
  *result = CL_SUCCESS;
  return true;
}

bool virtual_device_ids(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                        cl_uint* count, cl_int* result) noexcept {
  if (!has_remote_devices() || (platform && platform != list.platform())) return false;
  if ((devices && entries == 0) || (!devices && !count)) {
    *result = CL_INVALID_VALUE;
    return true;
  }
  cl_uint found = 0;
  // Whether types that mean nothing are refused, the drivers of remote devices say.
  if (list.table()->clGetDeviceIDs(list.platform(), type, 0, nullptr, &found) == CL_INVALID_DEVICE_TYPE) {
    *result = CL_INVALID_DEVICE_TYPE;
    return true;
  }
  found = 0;
  list.for_each(type, [&](const ListedDevice& d) {
    if (devices && found < entries) devices[found] = d.id;
    ++found;
  });
  if (count) *count = found;
  *result = found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
  return true;
}

bool virtual_context(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                     ContextNotify notify, void* data, cl_int* error, cl_context* result) noexcept {
  if (!has_virtual_contexts()) return false;
  if (!devices || count == 0) {
    // The loader knows nothing of our platform, and would say that it is none.
    const cl_platform_id asked = asked_platform(properties);
    if (!asked || asked != list.platform()) return false;
    if (error) *error = CL_INVALID_VALUE;
    *result = nullptr;
    return true;
  }
  if (!list.platform() && !is_worth_spreading(properties, count, devices)) return false;
  *result = create(properties, count, devices, notify, data, error);
  return true;
}

// Nobody named these devices: those stay that are remote as the first one is, or of its driver. Moved to the front.
static cl_uint keep_side_of_first(cl_device_id* devices, cl_uint count) noexcept {
  const auto side = [](cl_device_id d) { return is_virtual(d) ? list.platform() : DeviceList::platform_of(d); };
  const cl_platform_id first = count ? side(devices[0]) : nullptr;
  const auto elsewhere = [&](cl_device_id d) { return side(d) != first; };
  return static_cast<cl_uint>(std::remove_if(devices, devices + count, elsewhere) - devices);
}

bool virtual_context_of_type(const cl_context_properties* properties, cl_device_type type, ContextNotify notify,
                             void* data, cl_int* error, cl_context* result) noexcept {
  if (!has_virtual_contexts()) return false;
  const cl_platform_id asked = asked_platform(properties);
  if (asked && list.platform() && asked != list.platform()) return false;
  if (list.platform() && !notify && data) {
    if (error) *error = CL_INVALID_VALUE;
    *result = nullptr;
    return true;
  }
  cl_device_id devices[MostDevices];
  cl_uint count = devices_of_type(asked, type, devices);
  if (list.platform()) count = keep_side_of_first(devices, count);
  if (!list.platform() && !is_worth_spreading(properties, count, devices)) return false;
  if (count == 0) {
    if (error) *error = CL_DEVICE_NOT_FOUND;
    *result = nullptr;
    return true;
  }
  *result = create(properties, count, devices, notify, data, error);
  return true;
}

void correct_device_info(cl_device_info what, size_t size, void* value) noexcept {
  if (what != CL_DEVICE_PLATFORM || !value || size < sizeof(cl_platform_id)) return;
  if (const cl_platform_id shown = shown_platform()) *static_cast<cl_platform_id*>(value) = shown;
}

void correct_context_info(cl_context_info what, size_t size, const size_t* size_ret, void* value) noexcept {
  const cl_platform_id shown = shown_platform();
  if (what != CL_CONTEXT_PROPERTIES || !value || !shown) return;
  auto* const properties = static_cast<cl_context_properties*>(value);
  const size_t words = (size_ret ? std::min(size, *size_ret) : size) / sizeof *properties;
  for (size_t i = 0; i + 1 < words && properties[i]; i += 2)
    if (properties[i] == CL_CONTEXT_PLATFORM) properties[i + 1] = reinterpret_cast<cl_context_properties>(shown);
}

}  // namespace gt::opt
