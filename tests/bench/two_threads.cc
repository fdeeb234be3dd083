// Two threads enqueue commands on one buffer, a read and a migration to the host, each in a queue of its own: OpenCL
// allows it, PoCL 1.8 to 6.0 loses an event over it and ends the process
// (transport/executor/base/driver_lock.h). Without gtrace.
//
//   two_threads [ROUNDS [turns]]     turns: one thread at a time
#include <CL/cl.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

void check(cl_int code, int line) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "line %d: %d\n", line, code);
  std::_Exit(4);
}
#define CHECK(call) check(call, __LINE__)

constexpr size_t Bytes = 4096;

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 100'000;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int err = 0;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err);
  CHECK(err);
  const cl_command_queue queues[] = {clCreateCommandQueue(context, device, 0, &err),
                                     clCreateCommandQueue(context, device, 0, &err)};
  std::vector<char> from(Bytes, 7), to(Bytes);
  cl_mem buffer = nullptr;
  std::barrier begin(3), end(3);
  std::mutex mutex;
  const auto repeat = [&](auto enqueue) {
    for (long i = 0; i < rounds; ++i) {
      cl_event event = nullptr;
      begin.arrive_and_wait();
      {
        const auto turn = argc > 2 ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
        CHECK(enqueue(&event));
      }
      CHECK(clWaitForEvents(1, &event));
      CHECK(clReleaseEvent(event));
      end.arrive_and_wait();
    }
  };
  std::thread reads([&] {
    repeat([&](cl_event* e) {
      return clEnqueueReadBuffer(queues[0], buffer, CL_FALSE, 0, Bytes, to.data(), 0, nullptr, e);
    });
  });
  std::thread moves([&] {
    repeat([&](cl_event* e) {
      return clEnqueueMigrateMemObjects(queues[1], 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, e);
    });
  });
  for (long i = 0; i < rounds; ++i) {
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, nullptr, &err);
    CHECK(err);
    CHECK(clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, Bytes, from.data(), 0, nullptr, nullptr));
    begin.arrive_and_wait();
    end.arrive_and_wait();
    CHECK(clReleaseMemObject(buffer));
  }
  reads.join();
  moves.join();
  for (cl_command_queue queue : queues) CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(context));
  std::printf("%ld rounds\n", rounds);
}
