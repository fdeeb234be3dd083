#include "tracer/interpose/real_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracer/interpose/dynamic_linker.h"
#include "tracer/interpose/loaded_modules.h"
#include "traces/base/reentry.h"

namespace gt::interpose {

namespace {

constexpr size_t MaxPath = 4096;
constexpr const char* Names[] = {"libOpenCL.so.1", "libOpenCL.so"};
constexpr const char* UsualDirectories =
#if defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu:/lib/aarch64-linux-gnu:"
#else
    "/usr/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:"
#endif
    "/usr/lib64:/lib64:/usr/local/lib:/usr/lib:/lib:/usr/local/cuda/lib64:/opt/rocm/lib:/opt/rocm/"
    "opencl/lib:"
    "/opt/intel/oneapi/compiler/latest/lib";

// Recursive: a library whose constructor calls OpenCL comes back here, and gets the handle that is
// being made.
pthread_mutex_t g_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
constinit std::atomic<bool> g_tried{false};
void* g_handle = nullptr;   // written under g_mutex, before g_tried
char g_path[MaxPath];       // the same
char g_preferred[MaxPath];  // under g_mutex
char g_own_path[MaxPath];

bool same_file(const char* a, const char* b) {
  struct stat x {
  }, y{};
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool is_candidate(const char* path) {
  return path[0] == '/' && access(path, R_OK) == 0 && !same_file(path, own_path());
}

bool try_open(const char* path) {
  if (std::strlen(path) >= MaxPath || !is_candidate(path)) return false;
  void* handle = real_dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    real_dlerror();
    return false;
  }
  // A copy of our own library, perhaps of another version, would send every call back to us.
  if (real_dlsym(handle, "gt_interposed_library")) {
    real_dlclose(handle);
    return false;
  }
  real_dlerror();
  g_handle = handle;
  std::strcpy(g_path, path);
  return true;
}

// Tries both names in every directory of a colon-separated list.
bool try_directories(const char* list) {
  while (list && *list) {
    const size_t length = std::strcspn(list, ":");
    for (const char* name : Names) {
      char path[MaxPath];
      const int n =
          std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(length), list, name);
      if (n > 0 && static_cast<size_t>(n) < sizeof path && try_open(path)) return true;
    }
    list += length;
    if (*list == ':') ++list;
  }
  return false;
}

// A loader that some library brought along under a name of its own (Python wheels: libOpenCL-5519dec5.so.1.0.0).
bool try_loaded() {
  char found[MaxPath] = "";
  for_each_module([&](const ModuleInfo& m) {
    const char* slash = std::strrchr(m.path, '/');
    if (found[0] == 0 && slash && std::strncmp(slash + 1, "libOpenCL", 9) == 0 && std::strlen(m.path) < MaxPath &&
        is_candidate(m.path)) {
      std::strcpy(found, m.path);
    }
  });
  return found[0] && try_open(found);
}

void find_and_open() {
  const char* given = getenv(RealLibraryVariable);
  if (g_preferred[0] && try_open(g_preferred)) return;
  if (given && *given && try_open(given)) return;
  if (try_loaded() || try_directories(getenv("LD_LIBRARY_PATH"))) return;
  try_directories(UsualDirectories);
}

}  // namespace

bool open_real_library() {
  if (__builtin_expect(g_tried.load(std::memory_order_acquire), 1)) return g_handle != nullptr;
  const Reentry
      guard;  // what the loader and its drivers do while they are opened is not the program's
  const int saved_errno = errno;
  pthread_mutex_lock(&g_mutex);
  if (!g_tried.load(std::memory_order_relaxed)) {
    find_and_open();
    g_tried.store(true, std::memory_order_release);
  }
  pthread_mutex_unlock(&g_mutex);
  errno = saved_errno;
  return g_handle != nullptr;
}

void* real_symbol(const char* name) {
  if (!open_real_library()) return nullptr;
  const Reentry guard;
  void* found = real_dlsym(g_handle, name);
  if (!found) real_dlerror();
  return found;
}

void* real_library() { return open_real_library() ? g_handle : nullptr; }
const char* real_library_path() { return g_tried.load(std::memory_order_acquire) ? g_path : ""; }
void prefer_real_library(const char* path) {
  if (g_tried.load(std::memory_order_acquire)) return;
  const Reentry guard;
  char absolute[MaxPath];
  if (!realpath(path, absolute) || !is_candidate(absolute)) return;
  pthread_mutex_lock(&g_mutex);
  if (g_preferred[0] == 0) std::strcpy(g_preferred, absolute);
  pthread_mutex_unlock(&g_mutex);
}

const char* own_path() {
  Dl_info info;
  if (g_own_path[0] == 0 && dladdr(reinterpret_cast<const void*>(&same_file), &info) &&
      info.dli_fname) {
    char resolved[MaxPath];
    if (realpath(info.dli_fname, resolved)) std::strcpy(g_own_path, resolved);
  }
  return g_own_path;
}

}  // namespace gt::interpose
