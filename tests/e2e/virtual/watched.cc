// A program with a ThreadSanitizer, which sees what our threads do to memory that it has given away and looks at again:
// two threads with a queue each, transfers that do not block, and results compared.
#include <cstring>
#include <thread>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Bytes = 3 << 20;

void come_and_go(cl_context context, cl_device_id device, int thread) {
  cl_int code = 0;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  CHECK(code);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, nullptr, &code);
  CHECK(code);
  std::vector<char> there(Bytes), back(Bytes);
  for (int turn = 0; turn < 3; ++turn) {
    std::memset(there.data(), thread * 16 + turn, Bytes);
    cl_event written = nullptr, read = nullptr;
    CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, Bytes, there.data(), 0, nullptr, &written));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, Bytes, back.data(), 1, &written, &read));
    CHECK(clWaitForEvents(1, &read));
    if (there != back) std::printf("NO: turn %d\n", turn);
    CHECK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, Bytes, there.data(), 0, nullptr, nullptr));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 64, 64, back.data(), 0, nullptr, nullptr));
    clReleaseEvent(written);
    clReleaseEvent(read);
  }
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
}

}  // namespace

int main() {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  open_first_device(device, context, queue);
  std::thread other(come_and_go, context, device, 1);
  come_and_go(context, device, 2);
  other.join();
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  std::puts("come and gone");
  return 0;
}
