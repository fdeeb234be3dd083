#include "tracer/gtrace/replay/opencl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "traces/api/api.h"

namespace gt::tracer {

Result<std::unique_ptr<OpenClLibrary>> OpenClLibrary::open() {
  void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return Status(Kind::Unsupported, fmt::format("no OpenCL loader: {}; install ocl-icd-libopencl1", ::dlerror()));
  }
  return std::unique_ptr<OpenClLibrary>(new OpenClLibrary(library));
}

OpenClLibrary::OpenClLibrary(AnyFunction (*of)(api::FnId)) : library_(nullptr) {
  for (uint16_t fn = 1; fn < api::FnCount; ++fn) found_[fn] = of(static_cast<api::FnId>(fn));
}

AnyFunction OpenClLibrary::find(uint16_t fn, cl_platform_id platform) const {
  if (fn >= api::FnCount) return nullptr;
  if (const AnyFunction known = found_[fn].load(std::memory_order_acquire); known || !library_) return known;
  const char* const name = api::function_name(fn);
  // What was put in front of the loader (LD_PRELOAD) comes first, as for a program that is linked with it.
  AnyFunction found = reinterpret_cast<AnyFunction>(::dlsym(RTLD_DEFAULT, name));
  if (!found) found = reinterpret_cast<AnyFunction>(::dlsym(library_, name));
  if (!found && platform) {
    const auto ask =
        get<decltype(clGetExtensionFunctionAddressForPlatform)>(api::FnId::clGetExtensionFunctionAddressForPlatform);
    if (ask) found = reinterpret_cast<AnyFunction>(ask(platform, name));
  }
  found_[fn].store(found, std::memory_order_release);
  return found;
}

}  // namespace gt::tracer
