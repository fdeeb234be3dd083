// OpenCL through dlopen, for the programs built with GT_APPS_DLOPEN.
#define GT_APPS_LOADER
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "microbench/apps/opencl.h"

namespace gt::apps {

namespace {

void* load() {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  std::fprintf(stderr, "no OpenCL library: %s\n", dlerror());
  std::exit(4);
}

void* symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address != nullptr) return address;
  std::fprintf(stderr, "no %s in libOpenCL.so.1\n", name);
  std::exit(4);
}

Functions load_functions() {
  void* library = load();
  Functions table;
#define GT_RESOLVE(f) table.f = reinterpret_cast<decltype(table.f)>(symbol(library, #f));
  GT_APPS_FUNCTIONS(GT_RESOLVE)
#undef GT_RESOLVE
  return table;
}

}  // namespace

const Functions& opencl() {
  static const Functions table = load_functions();
  return table;
}

}  // namespace gt::apps
