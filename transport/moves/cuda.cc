#include "transport/moves/cuda.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace gt::moves::cuda {
namespace {

std::atomic<int> g_inside{0};
std::atomic<bool> g_leaving{false};
std::atomic<pid_t> g_process{0};

void leave() {
  constexpr int MostWait_ms = 5000;  // making a context takes some hundreds of milliseconds
  g_leaving = true;
  for (int i = 0; g_inside > 0 && i < MostWait_ms; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool load(Functions& f) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  const auto init = reinterpret_cast<Code (*)(unsigned)>(::dlsym(library, "cuInit"));
  bool all = init;
#define GT_X(name, symbol, ...)                                                   \
  f.name = reinterpret_cast<Code (*)(__VA_ARGS__)>(::dlsym(library, symbol)); \
  all = all && f.name;
  GT_CUDA_FUNCTIONS(GT_X)
#undef GT_X
  return all && init(0) == 0 && wait_at_exit();
}

}  // namespace

const Functions* driver() {
  static const Functions* const loaded = [] {
    static Functions functions;
    return load(functions) ? &functions : nullptr;
  }();
  return loaded;
}

bool is_leaving() { return g_leaving; }

bool wait_at_exit() {
  g_process = ::getpid();
  return std::atexit(leave) == 0;
}

Use::Use() {
  ++g_inside;
  const pid_t process = g_process;
  allowed_ = !g_leaving && (process == 0 || process == ::getpid());
}
Use::~Use() { --g_inside; }

}  // namespace gt::moves::cuda
