// Copies between shared virtual memory and memory of every other kind, each checked; prints what events say.
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tests/e2e/optimizer/first_device.h"
#include "tests/random_bytes.h"

namespace {

constexpr size_t Bytes = size_t{6} << 20;

struct Link : FirstDevice {
  cl_command_queue queue = nullptr;
  explicit Link(cl_command_queue_properties properties) {
    open();
    cl_int err = CL_SUCCESS;
    queue = clCreateCommandQueue(context, device, properties, &err);
    must(err, "clCreateCommandQueue");
  }
  ~Link() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  char* allocate(size_t bytes) const {
    void* const p = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    if (!p) must(CL_OUT_OF_RESOURCES, "clSVMAlloc");
    return static_cast<char*>(p);
  }
};

// Access of the host to coarse-grained memory.
void map(const Link& l, char* p, size_t bytes) {
  must(clEnqueueSVMMap(l.queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, p, bytes, 0, nullptr, nullptr), "clEnqueueSVMMap");
}
void unmap(const Link& l, char* p) { must(clEnqueueSVMUnmap(l.queue, p, 0, nullptr, nullptr), "clEnqueueSVMUnmap"); }

void tell(cl_event event, const char* what) {
  cl_command_type type = 0;
  cl_int status = 1;
  must(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr), "type");
  must(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), "status");
  std::printf("%s: type %x, status %d\n", what, type, status);
  must(clReleaseEvent(event), "clReleaseEvent");
}

char g_static[Bytes];

void one_size(const Link& l, std::mt19937& random, size_t bytes, char* host, const char* kind) {
  const size_t at = random() % 100;
  char* const svm = l.allocate(bytes + 200);
  std::vector<char> want(bytes), seen(bytes);
  gt::testing::randomize(random, want);
  std::memcpy(host, want.data(), bytes);
  cl_event there, back, between;
  must(clEnqueueSVMMemcpy(l.queue, random() % 2, svm + at, host, bytes, 0, nullptr, &there), "to SVM");
  // On its way until the event says so.
  must(clWaitForEvents(1, &there), "wait");
  std::memset(host, 0, bytes);
  char* const other = l.allocate(bytes);
  must(clEnqueueSVMMemcpy(l.queue, CL_FALSE, other, svm + at, bytes, 1, &there, &between), "from SVM to SVM");
  const cl_bool blocking = random() % 2;
  must(clEnqueueSVMMemcpy(l.queue, blocking, host, other, bytes, 1, &between, &back), "from SVM");
  if (!blocking) must(clWaitForEvents(1, &back), "wait");
  if (std::memcmp(host, want.data(), bytes) != 0) std::printf("WRONG: %s, %zu bytes\n", kind, bytes);
  must(clEnqueueSVMMemcpy(l.queue, CL_TRUE, seen.data(), host, bytes, 0, nullptr, nullptr), "between host and host");
  map(l, svm, bytes + 200);
  if (seen != want || std::memcmp(svm + at, want.data(), bytes) != 0) std::printf("WRONG: %s, %zu\n", kind, bytes);
  unmap(l, svm);
  tell(there, "to");
  tell(between, "between");
  tell(back, "back");
  must(clFinish(l.queue), "clFinish");
  clSVMFree(l.context, svm);
  void* list[] = {other};
  must(clEnqueueSVMFree(l.queue, 1, list, nullptr, nullptr, 0, nullptr, nullptr), "clEnqueueSVMFree");
  must(clFinish(l.queue), "clFinish");
}

// Where such memory was, there is the program's own later.
void addresses_come_back(const Link& l) {
  char* const svm = l.allocate(Bytes);
  for (int i = 0; i < 20; ++i) {
    char* const was = l.allocate(Bytes / 2);
    clSVMFree(l.context, was);
    const std::unique_ptr<char[]> own(new char[Bytes / 2]);
    std::memset(own.get(), i, Bytes / 2);
    must(clEnqueueSVMMemcpy(l.queue, CL_TRUE, svm, own.get(), Bytes / 2, 0, nullptr, nullptr), "to SVM");
    map(l, svm, Bytes);
    if (svm[0] != i || svm[Bytes / 2 - 1] != i) std::printf("WRONG: an address that came back\n");
    unmap(l, svm);
  }
  must(clFinish(l.queue), "clFinish");
  clSVMFree(l.context, svm);
}

void wrong_calls(const Link& l) {
  char* const svm = l.allocate(Bytes);
  std::vector<char> host(Bytes);
  const auto say = [](const char* what, cl_int code) { std::printf("%s: %d\n", what, code); };
  say("NULL", clEnqueueSVMMemcpy(l.queue, CL_TRUE, svm, nullptr, Bytes, 0, nullptr, nullptr));
  say("no queue", clEnqueueSVMMemcpy(nullptr, CL_TRUE, svm, host.data(), Bytes, 0, nullptr, nullptr));
  say("overlap", clEnqueueSVMMemcpy(l.queue, CL_TRUE, svm, svm + 10, Bytes / 2, 0, nullptr, nullptr));
  cl_event event = nullptr;
  say("no list", clEnqueueSVMMemcpy(l.queue, CL_TRUE, svm, host.data(), Bytes, 1, nullptr, &event));
  say("no number", clEnqueueSVMMemcpy(l.queue, CL_TRUE, svm, host.data(), Bytes, 0, &event, nullptr));
  must(clFinish(l.queue), "clFinish");
  clSVMFree(l.context, svm);
}

}  // namespace

int main() {
  std::mt19937 random(1);
  for (const cl_command_queue_properties properties :
       {cl_command_queue_properties{0}, cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
    const Link l(properties);
    const std::unique_ptr<char[]> heap(new char[Bytes]);
    char stack[70'000];
    for (const size_t bytes : {size_t{1}, size_t{5000}, size_t{300'000}, size_t{2'500'001}, Bytes}) {
      one_size(l, random, bytes, heap.get(), "heap");
      one_size(l, random, bytes, g_static, "static");
      if (bytes <= sizeof stack) one_size(l, random, bytes, stack, "stack");
    }
    addresses_come_back(l);
    wrong_calls(l);
  }
  std::printf("end\n");
}
