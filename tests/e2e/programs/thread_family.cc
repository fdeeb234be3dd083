// Threads that start threads, each with a queue of its own and a different amount of work, all at once: whoever runs
// first, the trace must number them alike. Usage: thread_family [THREADS]
#include <CL/cl.h>
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

cl_device_id g_device;
cl_context g_context;
pthread_barrier_t g_start;

void work(intptr_t number) {
  pthread_barrier_wait(&g_start);
  cl_command_queue queue = clCreateCommandQueueWithProperties(g_context, g_device, nullptr, nullptr);
  std::vector<cl_mem> buffers;
  for (intptr_t i = 0; i <= number; ++i)
    buffers.push_back(clCreateBuffer(g_context, CL_MEM_READ_WRITE, 64, nullptr, nullptr));
  auto* memory = static_cast<char*>(calloc(64, 1));
  for (int i = 0; i < 30; ++i) {
    for (cl_mem b : buffers) clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, 64, memory, 0, nullptr, nullptr);
    clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, 64, memory, 0, nullptr, nullptr);
  }
  for (cl_mem b : buffers) clReleaseMemObject(b);
  clReleaseCommandQueue(queue);
  free(memory);
}

void* leaf(void* number) {
  work(reinterpret_cast<intptr_t>(number));
  return nullptr;
}
// One with a child of its own.
void* branch(void* number) {
  pthread_t child;
  if (pthread_create(&child, nullptr, leaf, static_cast<char*>(number) + 100) != 0) abort();
  work(reinterpret_cast<intptr_t>(number));
  pthread_join(child, nullptr);
  return nullptr;
}
int c11_leaf(void* number) {
  work(reinterpret_cast<intptr_t>(number));
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  const intptr_t n = argc > 1 ? atoi(argv[1]) : 8;
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 4;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &g_device, nullptr) != CL_SUCCESS) return 4;
  g_context = clCreateContext(nullptr, 1, &g_device, nullptr, nullptr, nullptr);
  pthread_barrier_init(&g_start, nullptr, static_cast<unsigned>(n + (n + 1) / 3));
  std::vector<pthread_t> threads(static_cast<size_t>(n));
  for (intptr_t i = 0; i < n; ++i) {
    auto* number = reinterpret_cast<void*>(i);
    pthread_t* thread = &threads[static_cast<size_t>(i)];
    const int error = i % 3 == 0   ? pthread_create(thread, nullptr, leaf, number)
                      : i % 3 == 1 ? pthread_create(thread, nullptr, branch, number)
                                   : thrd_create(thread, c11_leaf, number);
    if (error != 0) return 1;
  }
  for (intptr_t i = 0; i < n; ++i) {
    if (i % 3 != 2) {
      pthread_join(threads[static_cast<size_t>(i)], nullptr);
      continue;
    }
    int result = 0;
    if (thrd_join(threads[static_cast<size_t>(i)], &result) != thrd_success || result != 7) return 1;
  }
  clReleaseContext(g_context);
  std::puts("done");
  return 0;
}
