// What a call costs with and without us, in one process and one run.
//
//   gtrace run -- call_overhead              what recording adds to calls, commands and malloc+free pairs
//   goptimize run ... -- call_overhead       the same for the optimizer
//   LD_PRELOAD=.../trace/libOpenCL.so.1 call_overhead     the library loaded, recording off
//   heaptrack call_overhead malloc           another tool, the same loop
//   call_overhead                            nothing is added: shows the method's own error
//
// The bare call is the same function fetched from its own library by path, past every interposed symbol. Batches are
// short enough for the recorder's ring and spaced by pauses, so that "burst" is the cost of recording itself;
// "sustained" runs without pauses, so that it includes waiting for the collector when that is slower.
// Commands go to a queue made by the bare functions, and to one made as the program would make it.
// Arguments name the measurements: calls malloc commands threads pool; all without any.
// Prints JSON: medians over batches, ns per call (pair, command).
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Batch = std::function<void(int)>;

double ns_per(const Batch& batch, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  batch(calls);
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / calls;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Row {
  double bare, burst, sustained_added;
};

// Alternates bare and hooked batches, so that both see the same machine.
Row measure(const Batch& bare, const Batch& hooked, int burst = 4000, int sustained = 400'000) {
  constexpr int Batches = 61;
  std::vector<double> b, h, sustained_bare, sustained_hooked;
  for (int i = 0; i < Batches; ++i) {
    usleep(2000);
    b.push_back(ns_per(bare, burst));
    usleep(2000);
    h.push_back(ns_per(hooked, burst));
  }
  // So long that others get the processor meanwhile: of both.
  for (int i = 0; i < 5; ++i) {
    sustained_bare.push_back(ns_per(bare, sustained));
    sustained_hooked.push_back(ns_per(hooked, sustained));
  }
  return {median(b), median(h), median(sustained_hooked) - median(sustained_bare)};
}

// The same in two threads that both have called before: ns of a call when one of them works, and when both do.
// They start each batch together.
struct Twice {
  Row one, both;
};
Twice measure_twice(const Batch& bare, const Batch& hooked) {
  constexpr int Burst = 4000, Rounds = 61;
  enum { BareOne, HookedOne, BareBoth, HookedBoth, Phases };
  std::vector<double> times[Phases];
  std::atomic<int> arrived{0};
  const auto work = [&](bool first) {
    hooked(1);
    for (int i = 0; i < Phases * Rounds; ++i) {
      const int phase = i % Phases;
      usleep(2000);
      ++arrived;
      while (arrived < 2 * (i + 1)) {
      }
      if (!first && phase < BareBoth) continue;
      const double ns = ns_per(phase % 2 ? hooked : bare, Burst);
      if (first) times[phase].push_back(ns);
    }
  };
  std::thread other(work, false);
  work(true);
  other.join();
  const auto row = [&](int phase) {
    const double plain = median(times[phase]), ours = median(times[phase + 1]);
    return Row{plain, ours, ours - plain};
  };
  return {row(BareOne), row(BareBoth)};
}

bool g_first = true;
void print(const char* name, const Row& row) {
  std::printf("%s  \"%s\": {\"bare_ns\": %.1f, \"hooked_ns\": %.1f, \"added_ns\": %.1f, \"sustained_added_ns\": %.1f}",
              g_first ? "" : ",\n", name, row.bare, row.burst, row.burst - row.bare, row.sustained_added);
  g_first = false;
}

// The launchers say which loader they took for the real one.
void* bare_symbol(const char* library, const char* name) {
  // libc's own dlopen: ours would give ourselves for an OpenCL loader.
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
  auto* open = reinterpret_cast<void* (*)(const char*, int)>(dlsym(libc, "dlopen"));
  void* handle = open ? open(library, RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* f = handle ? dlsym(handle, name) : nullptr;
  if (!f) {
    std::fprintf(stderr, "call_overhead: no %s in %s\n", name, library);
    std::exit(4);
  }
  return f;
}
template <class F>
F* bare_function(F* own, const char* name) {
  const char* loader = std::getenv("GTRACE_OPENCL_LIBRARY");
  return loader ? reinterpret_cast<F*>(bare_symbol(loader, name)) : own;
}
#define BARE(name) bare_function(&name, #name)

struct Device {
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem buffer = nullptr;
};

Device open_device() {
  Device d;
  cl_platform_id platform = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.id, nullptr) != CL_SUCCESS) {
    return d;
  }
  d.context = clCreateContext(nullptr, 1, &d.id, nullptr, nullptr, nullptr);
  const char* source = "kernel void k(int a, global int* p) { p[get_global_id(0)] = a; }";
  cl_program program = clCreateProgramWithSource(d.context, 1, &source, nullptr, nullptr);
  if (clBuildProgram(program, 1, &d.id, "", nullptr, nullptr) != CL_SUCCESS) return d;
  d.kernel = clCreateKernel(program, "k", nullptr);
  d.buffer = clCreateBuffer(d.context, CL_MEM_READ_WRITE, 4096, nullptr, nullptr);
  const int one = 1;
  clSetKernelArg(d.kernel, 0, sizeof one, &one);
  clSetKernelArg(d.kernel, 1, sizeof d.buffer, &d.buffer);
  return d;
}

Batch set_arg(decltype(&clSetKernelArg) set, cl_kernel kernel) {
  return [=](int n) {
    for (; n; --n) set(kernel, 0, sizeof n, &n);
  };
}
Batch event_info(decltype(&clGetEventInfo) get, cl_event event) {
  return [=](int n) {
    for (cl_int status; n; --n) get(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  };
}
Batch references(decltype(&clRetainMemObject) retain, decltype(&clReleaseMemObject) release, cl_mem buffer) {
  return [=](int n) {
    for (; n; --n) {
      retain(buffer);
      release(buffer);
    }
  };
}
Batch buffers(decltype(&clCreateBuffer) create, decltype(&clReleaseMemObject) release, cl_context context) {
  return [=](int n) {
    for (; n; --n) release(create(context, CL_MEM_READ_WRITE, 4096, nullptr, nullptr));
  };
}
Batch pairs(void* (*allocate)(size_t), void (*release)(void*)) {
  return [=](int n) {
    for (volatile size_t size = 64; n; --n) {
      void* volatile keep = allocate(size);
      release(keep);
    }
  };
}
// What a program does with a buffer for transfers. A byte is written: memory without a page costs nothing anywhere.
template <class Allocate, class Release>
Batch blocks(Allocate allocate, Release release, size_t bytes) {
  return [=](int n) {
    for (; n; --n) {
      auto* const block = static_cast<volatile char*>(allocate(bytes));
      if (block) block[bytes / 2] = 1;
      release(const_cast<char*>(block));
    }
  };
}
Batch launches(decltype(&clEnqueueNDRangeKernel) launch, decltype(&clFinish) finish, cl_command_queue queue,
               cl_kernel kernel) {
  return [=](int n) {
    const size_t global = 64;
    for (; n; --n) launch(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
    finish(queue);
  };
}
Batch writes(decltype(&clEnqueueWriteBuffer) write, cl_command_queue queue, cl_mem buffer) {
  return [=](int n) {
    static char host[4096];
    for (; n; --n) write(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, nullptr, nullptr);
  };
}

void measure_commands(const Device& d) {
  constexpr int Burst = 200, Sustained = 5000;
  cl_command_queue bare = BARE(clCreateCommandQueue)(d.context, d.id, 0, nullptr);
  cl_command_queue own = clCreateCommandQueue(d.context, d.id, 0, nullptr);
  const Batch own_launches = launches(&clEnqueueNDRangeKernel, &clFinish, own, d.kernel);
  const Batch own_writes = writes(&clEnqueueWriteBuffer, own, d.buffer);
  own_launches(Sustained);  // the first commands of a site are all timed
  own_writes(Sustained);
  print("timed_launch", measure(launches(BARE(clEnqueueNDRangeKernel), BARE(clFinish), bare, d.kernel), own_launches,
                                Burst, Sustained));
  print("timed_write", measure(writes(BARE(clEnqueueWriteBuffer), bare, d.buffer), own_writes, Burst, Sustained));
}

void measure_calls(const Device& d) {
  print("opencl_call", measure(set_arg(BARE(clSetKernelArg), d.kernel), set_arg(&clSetKernelArg, d.kernel)));
  const cl_event event = clCreateUserEvent(d.context, nullptr);
  print("event_info", measure(event_info(BARE(clGetEventInfo), event), event_info(&clGetEventInfo, event)));
  clReleaseEvent(event);
  print("retain_release_pair", measure(references(BARE(clRetainMemObject), BARE(clReleaseMemObject), d.buffer),
                                       references(&clRetainMemObject, &clReleaseMemObject, d.buffer)));
  print("create_release_pair", measure(buffers(BARE(clCreateBuffer), BARE(clReleaseMemObject), d.context),
                                       buffers(&clCreateBuffer, &clReleaseMemObject, d.context)));
}

void measure_pool(void* (*allocate)(size_t), void (*release)(void*)) {
  for (size_t bytes = size_t{4} << 10; bytes <= size_t{256} << 20; bytes *= 4) {
    // A direct call: a site that a profile can name (make_profile.py).
    const Batch own = blocks([](size_t n) { return std::malloc(n); }, [](char* p) { std::free(p); }, bytes);
    own(20);  // warm: the pool has grown
    print(("pool_" + std::to_string(bytes)).c_str(), measure(blocks(allocate, release, bytes), own, 100, 1000));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* what) {
    return argc == 1 || std::any_of(argv + 1, argv + argc, [&](const char* a) { return std::strcmp(a, what) == 0; });
  };
  // The pool pins only for a program that has a context.
  const bool needs_device = wanted("calls") || wanted("commands") || wanted("threads") || wanted("pool");
  const Device device = needs_device ? open_device() : Device();
  const auto bare_malloc = reinterpret_cast<void* (*)(size_t)>(bare_symbol("libc.so.6", "malloc"));
  const auto bare_free = reinterpret_cast<void (*)(void*)>(bare_symbol("libc.so.6", "free"));
  const Batch bare_pairs = pairs(bare_malloc, bare_free);
  const Batch own_pairs = pairs(&std::malloc, &std::free);
  std::printf("{\n");
  if (wanted("calls") && device.kernel) measure_calls(device);
  if (wanted("malloc")) print("malloc_free_pair", measure(bare_pairs, own_pairs));
  if (wanted("threads")) {
    const Twice twice = measure_twice(bare_pairs, own_pairs);
    print("malloc_free_pair_1_of_2_threads", twice.one);
    print("malloc_free_pair_2_threads", twice.both);
  }
  if (wanted("commands") && device.kernel) measure_commands(device);
  if (wanted("pool")) measure_pool(bare_malloc, bare_free);
  std::printf("\n}\n");
  return 0;
}
