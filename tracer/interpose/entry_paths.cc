#include "tracer/interpose/entry_paths.h"

#include <dlfcn.h>

#include "tracer/interpose/loaded_modules.h"
#include "tracer/interpose/memory_epoch.h"
#include "tracer/interpose/opencl_requests.h"

namespace gt::interpose {

void (*before_deep_binding)() = nullptr;

namespace {
// A request of the program's for OpenCL?
bool wants_opencl(const char* path, int flags) {
  forget_failure();
  if ((flags & RTLD_DEEPBIND) && before_deep_binding && program_runs()) before_deep_binding();
  libraries_asked_for.fetch_add(1, std::memory_order_relaxed);
  return path && program_runs() && is_opencl_name(path);
}
}  // namespace

Dlopen dlopen_for(const char* path, int flags) { return wants_opencl(path, flags) ? open_opencl : dlopen_function(); }

Dlmopen dlmopen_for(long space, const char* path, int flags) {
  return wants_opencl(path, flags) && space == LM_ID_BASE ? open_opencl_in_base : dlmopen_function();
}

Dlsym dlsym_for(void* handle, const char* name, const void* caller) {
  forget_failure();
  return program_runs() && is_opencls_business(handle, name, caller) ? find_opencl_symbol : dlsym_function();
}

Dlvsym dlvsym_for(void* handle, const char*, const char*) {
  forget_failure();
  return program_runs() && is_opencls_handle(handle) ? find_opencl_version : dlvsym_function();
}

int close_library(void* handle) {
  forget_failure();
  const int result = real_dlclose(handle);
  if (result == 0 && program_runs()) opencl_closed(handle);
  begin_memory_epoch();
  return result;
}

}  // namespace gt::interpose

extern "C" {
gt::interpose::Dlopen gt_dlopen_for(const char* path, int flags) { return gt::interpose::dlopen_for(path, flags); }
gt::interpose::Dlmopen gt_dlmopen_for(long space, const char* path, int flags) {
  return gt::interpose::dlmopen_for(space, path, flags);
}
gt::interpose::Dlsym gt_dlsym_for(void* handle, const char* name, const void* caller) {
  return gt::interpose::dlsym_for(handle, name, caller);
}
gt::interpose::Dlvsym gt_dlvsym_for(void* handle, const char* name, const char* version) {
  return gt::interpose::dlvsym_for(handle, name, version);
}
}
