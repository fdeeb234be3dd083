// Transfers of memory that the driver mapped, was given or gave, each beside the same of other memory. Prints a sum of
// what came back of each, and how many there were of which kind.
#include <cstring>
#include <vector>

#include "tests/e2e/optimizer/first_device.h"

namespace {

constexpr size_t Bytes = size_t{1} << 20, Half = Bytes / 2;

struct Link : FirstDevice {
  cl_command_queue queue = nullptr;
  cl_mem there = nullptr;
  int drivers = 0, others = 0;

  Link() {
    open();
    cl_int err = CL_SUCCESS;
    queue = clCreateCommandQueue(context, device, 0, &err);
    must(err, "clCreateCommandQueue");
    there = buffer(CL_MEM_READ_WRITE, nullptr);
  }
  cl_mem buffer(cl_mem_flags flags, void* host) {
    cl_int err = CL_SUCCESS;
    cl_mem mem = clCreateBuffer(context, flags, Bytes, host, &err);
    must(err, "clCreateBuffer");
    return mem;
  }
  char* map(cl_mem mem) {
    cl_int err = CL_SUCCESS;
    void* p = clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, Bytes, 0, nullptr, nullptr, &err);
    must(err, "clEnqueueMapBuffer");
    return static_cast<char*>(p);
  }
  void unmap(cl_mem mem, void* p) {
    must(clEnqueueUnmapMemObject(queue, mem, p, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
    must(clFinish(queue), "clFinish");
  }
  // Two transfers of the first or second half of `host`.
  void use(char* host, bool is_drivers, const char* what, size_t at = 0) {
    for (size_t i = 0; i < Half; ++i) host[at + i] = static_cast<char>(i * 7 + (i >> 9) + at + drivers + others);
    must(clEnqueueWriteBuffer(queue, there, CL_TRUE, at, Half, host + at, 0, nullptr, nullptr), what);
    std::memset(host + at, 0, Half);
    must(clEnqueueReadBuffer(queue, there, CL_TRUE, at, Half, host + at, 0, nullptr, nullptr), what);
    unsigned long sum = 0;
    for (size_t i = 0; i < Half; ++i) sum = sum * 31 + static_cast<unsigned char>(host[at + i]);
    std::printf("%s: %lu\n", what, sum);
    (is_drivers ? drivers : others) += 2;
  }
};

void mapped(Link& l, cl_mem_flags flags) {
  cl_mem mem = l.buffer(flags, nullptr);
  char* const p = l.map(mem);
  l.use(p, true, "mapped");
  l.use(p, true, "its second half", Half);
  char* const again = l.map(mem);
  l.unmap(mem, again);
  if (again == p) l.use(p, true, "mapped twice, unmapped once");
  l.unmap(mem, p);
  must(clReleaseMemObject(mem), "clReleaseMemObject");
}

void under_a_buffer(Link& l) {
  std::vector<char> block(2 * Bytes);
  l.use(block.data(), false, "not yet under a buffer");
  cl_mem mem = l.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, block.data());
  l.use(block.data(), true, "under a buffer");
  l.use(block.data() + Bytes, false, "behind it");
  l.use(block.data() + Bytes - Half / 2, false, "half behind it");
  must(clRetainMemObject(mem), "clRetainMemObject");
  must(clReleaseMemObject(mem), "clReleaseMemObject");
  l.use(block.data(), true, "after one of two releases", Half);
  must(clReleaseMemObject(mem), "clReleaseMemObject");
  l.use(block.data(), false, "after the last");
}

void image(Link& l) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 512;
  cl_int err = CL_SUCCESS;
  cl_mem mem = clCreateImage(l.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err);
  must(err, "clCreateImage");
  const size_t origin[3] = {}, region[3] = {512, 512, 1};
  size_t row_pitch = 0;
  void* const p = clEnqueueMapImage(l.queue, mem, CL_TRUE, CL_MAP_WRITE, origin, region, &row_pitch, nullptr, 0,
                                    nullptr, nullptr, &err);
  must(err, "clEnqueueMapImage");
  l.use(static_cast<char*>(p), true, "a mapped image", Half);
  l.unmap(mem, p);
  must(clReleaseMemObject(mem), "clReleaseMemObject");
}

void shared(Link& l) {
  cl_device_svm_capabilities can = 0;
  clGetDeviceInfo(l.device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr);
  if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) return;
  auto* const p = static_cast<char*>(clSVMAlloc(l.context, CL_MEM_READ_WRITE, Bytes, 0));
  must(p ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc");
  must(clEnqueueSVMMap(l.queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, p, Bytes, 0, nullptr, nullptr), "clEnqueueSVMMap");
  l.use(p, true, "shared virtual memory", Half);
  must(clEnqueueSVMUnmap(l.queue, p, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
  must(clFinish(l.queue), "clFinish");
  clSVMFree(l.context, p);
}

}  // namespace

int main() {
  Link l;
  mapped(l, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  mapped(l, CL_MEM_READ_WRITE);
  under_a_buffer(l);
  image(l);
  shared(l);
  std::printf("the driver's own: %d, others: %d\n", l.drivers, l.others);
  clReleaseMemObject(l.there);
  clReleaseCommandQueue(l.queue);
  clReleaseContext(l.context);
}
