// What a call costs with and without us, in one process and one run.
//
//   gtrace run -- call_overhead         what recording adds to an OpenCL call and to a malloc+free
//   pair goptimize run ... -- call_overhead  the same for the optimizer call_overhead nothing is
//   added: shows the method's own error
//
// The bare call is the same function fetched from its own library by path, past every interposed
// symbol. Batches are short enough for the recorder's ring and spaced by pauses, so that "burst" is
// the cost of recording itself; "sustained" runs without pauses, so that it includes waiting for
// the collector when that is slower. Prints JSON: medians over batches, ns per call (or pair).
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

double ns_per(const std::function<void()>& batch, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  batch();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / calls;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Row {
  double bare, burst, sustained;
};

// Alternates bare and hooked batches, so that both see the same machine.
Row measure(const std::function<void(int)>& bare, const std::function<void(int)>& hooked) {
  constexpr int Burst = 4000, Batches = 61, Sustained = 400'000;
  std::vector<double> b, h, s;
  for (int i = 0; i < Batches; ++i) {
    usleep(2000);
    b.push_back(ns_per([&] { bare(Burst); }, Burst));
    usleep(2000);
    h.push_back(ns_per([&] { hooked(Burst); }, Burst));
  }
  for (int i = 0; i < 5; ++i) s.push_back(ns_per([&] { hooked(Sustained); }, Sustained));
  return {median(b), median(h), median(s)};
}

void print(const char* name, const Row& row, bool last) {
  std::printf(
      "  \"%s\": {\"bare_ns\": %.1f, \"hooked_ns\": %.1f, \"added_ns\": %.1f, "
      "\"sustained_added_ns\": %.1f}%s\n",
      name, row.bare, row.burst, row.burst - row.bare, row.sustained - row.bare, last ? "" : ",");
}

template <class F>
F* bare_function(const char* library, const char* name) {
  // libc's own dlopen: ours would give ourselves for an OpenCL loader.
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
  auto* open = reinterpret_cast<void* (*)(const char*, int)>(dlsym(libc, "dlopen"));
  void* handle = open ? open(library, RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* f = handle ? dlsym(handle, name) : nullptr;
  if (!f) {
    std::fprintf(stderr, "call_overhead: no %s in %s\n", name, library);
    std::exit(4);
  }
  return reinterpret_cast<F*>(f);
}

cl_kernel make_kernel() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    return nullptr;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const char* source = "kernel void k(int a, global int* p) { p[get_global_id(0)] = a; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) return nullptr;
  return clCreateKernel(program, "k", nullptr);
}

}  // namespace

int main() {
  // The launchers say which loader they took for the real one.
  const char* loader = std::getenv("GTRACE_OPENCL_LIBRARY");
  auto* bare_set =
      loader ? bare_function<decltype(clSetKernelArg)>(loader, "clSetKernelArg") : &clSetKernelArg;
  auto* bare_malloc = bare_function<void*(size_t)>("libc.so.6", "malloc");
  auto* bare_free = bare_function<void(void*)>("libc.so.6", "free");

  cl_kernel kernel = make_kernel();
  std::printf("{\n");
  if (kernel) {
    int value = 0;
    const Row call = measure(
        [&](int n) {
          for (; n; --n) {
            value = n;
            bare_set(kernel, 0, sizeof value, &value);
          }
        },
        [&](int n) {
          for (; n; --n) {
            value = n;
            clSetKernelArg(kernel, 0, sizeof value, &value);
          }
        });
    print("opencl_call", call, false);
  }
  volatile size_t size = 64;
  void* volatile keep = nullptr;
  const Row pair = measure(
      [&](int n) {
        for (; n; --n) {
          keep = bare_malloc(size);
          bare_free(keep);
        }
      },
      [&](int n) {
        for (; n; --n) {
          keep = std::malloc(size);
          std::free(keep);
        }
      });
  print("malloc_free_pair", pair, true);
  std::printf("}\n");
  return 0;
}
