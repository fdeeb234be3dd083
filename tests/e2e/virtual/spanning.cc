// One context of all devices of the first platform: handles, contents that go from device to device, a lost device.
//
// Usage: spanning handles|moves|part|lost|overtake|leave|churn. Prints one line for each thing looked at; what is wrong
// ends with NO.
#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace {

void say(const char* what, cl_int code) {
  std::printf("%s %d\n", what, code);
  std::fflush(stdout);
}
void check(const char* what, bool good) {
  std::printf("%s: %s\n", what, good ? "yes" : "NO");
  std::fflush(stdout);
}
void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "spanning: %s: error %d\n", what, code);
  std::exit(3);
}

cl_context_properties property(cl_platform_id platform) { return reinterpret_cast<cl_context_properties>(platform); }

struct World {
  cl_platform_id platform = nullptr;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr;
  std::vector<cl_command_queue> queues;
  cl_uint count() const { return static_cast<cl_uint>(devices.size()); }
};

World make_world() {
  World w;
  must(clGetPlatformIDs(1, &w.platform, nullptr), "platforms");
  cl_uint n = 0;
  must(clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n), "devices");
  w.devices.resize(n);
  must(clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, n, w.devices.data(), nullptr), "devices");
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, property(w.platform), 0};
  cl_int code = 0;
  w.context = clCreateContext(properties, n, w.devices.data(), nullptr, nullptr, &code);
  must(code, "context");
  for (cl_device_id d : w.devices) {
    w.queues.push_back(clCreateCommandQueue(w.context, d, 0, &code));
    must(code, "queue");
  }
  return w;
}

void end(World& w) {
  for (cl_command_queue q : w.queues) must(clReleaseCommandQueue(q), "release");
  must(clReleaseContext(w.context), "release");
}

template <class Query, class Of, class Name>
std::vector<cl_device_id> list(Query query, Of of, Name name, size_t n) {
  std::vector<cl_device_id> all(n);
  size_t bytes = 0;
  must(query(of, name, n * sizeof(cl_device_id), all.data(), &bytes), "a list of devices");
  all.resize(bytes / sizeof(cl_device_id));
  return all;
}

// The word that the ICD loader goes by: another driver's objects have another.
const void* maker(const void* handle) {
  const void* word = nullptr;
  std::memcpy(&word, handle, sizeof word);
  return word;
}

void binaries(World& w, cl_program program) {
  cl_int code = 0;
  std::vector<size_t> sizes(w.devices.size());
  const size_t bytes = sizes.size() * sizeof(size_t);
  must(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, bytes, sizes.data(), nullptr), "sizes");
  std::vector<std::vector<unsigned char>> all;
  std::vector<unsigned char*> to;
  for (size_t size : sizes) {
    all.emplace_back(size);
    to.push_back(all.back().data());
  }
  must(clGetProgramInfo(program, CL_PROGRAM_BINARIES, to.size() * sizeof(void*), to.data(), nullptr), "binaries");
  cl_program again = clCreateProgramWithBinary(w.context, w.count(), w.devices.data(), sizes.data(),
                                               const_cast<const unsigned char**>(to.data()), nullptr, &code);
  must(code, "from binaries");
  must(clBuildProgram(again, 0, nullptr, "", nullptr, nullptr), "build of binaries");
  check("binaries' devices", list(clGetProgramInfo, again, CL_PROGRAM_DEVICES, w.devices.size()) == w.devices);
  clReleaseProgram(again);
}

void program_handles(World& w) {
  const char* source = "kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }";
  cl_int code = 0;
  cl_program program = clCreateProgramWithSource(w.context, 1, &source, nullptr, &code);
  check("program's devices", list(clGetProgramInfo, program, CL_PROGRAM_DEVICES, w.devices.size()) == w.devices);
  must(clBuildProgram(program, w.count(), w.devices.data(), "", nullptr, nullptr), "build");
  cl_kernel kernel = clCreateKernel(program, "twice", &code);
  must(code, "kernel");
  for (cl_device_id d : w.devices) {
    cl_build_status status = CL_BUILD_NONE;
    must(clGetProgramBuildInfo(program, d, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr), "info");
    size_t size = 0;
    must(clGetKernelWorkGroupInfo(kernel, d, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, nullptr), "info");
    check("built for each device", status == CL_BUILD_SUCCESS && size > 0);
  }
  cl_build_status status = CL_BUILD_NONE;
  say("build info of no device",
      clGetProgramBuildInfo(program, nullptr, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
  binaries(w, program);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

int handles() {
  World w = make_world();
  const size_t n = w.devices.size();
  std::printf("devices %zu\n", n);
  check("context is the virtual platform's", maker(w.context) != maker(w.devices[0]));
  check("context's devices", list(clGetContextInfo, w.context, CL_CONTEXT_DEVICES, n) == w.devices);
  for (size_t i = 0; i < n; ++i)
    check("queue's device", list(clGetCommandQueueInfo, w.queues[i], CL_QUEUE_DEVICE, 1)[0] == w.devices[i]);
  program_handles(w);
  cl_int code = 0;
  cl_context one = clCreateContext(nullptr, 1, w.devices.data(), nullptr, nullptr, &code);
  check("context of one device is the driver's", code == CL_SUCCESS && maker(one) == maker(w.devices[0]));
  clCreateCommandQueue(one, w.devices[1], 0, &code);
  say("queue for another context's device", code);
  clReleaseContext(one);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, property(w.platform), 0};
  cl_context all = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, nullptr, nullptr, &code);
  check("context from type", code == CL_SUCCESS && maker(all) == maker(w.context));
  check("its devices", code == CL_SUCCESS && list(clGetContextInfo, all, CL_CONTEXT_DEVICES, n) == w.devices);
  clReleaseContext(all);
  end(w);
  return 0;
}

using Bytes = std::vector<unsigned char>;

Bytes pattern(size_t bytes, unsigned seed) {
  Bytes p(bytes);
  for (unsigned char& b : p) b = static_cast<unsigned char>((seed = seed * 1664525u + 1013904223u) >> 24);
  return p;
}

// What buffers are filled with and read into, made once: whatever begins elsewhere in the filling differs.
struct Filling {
  explicit Filling(size_t largest) : all(pattern(largest + Begins + Apart, 99)), seen(largest) {}
  static constexpr size_t Begins = 4096, Apart = 5000;
  Bytes all, seen;
};

// Written on one device, changed in part on the other, read on the first: without waiting between but by events.
bool goes_round(World& w, Filling& with, size_t a, size_t b, size_t bytes) {
  cl_int code = 0;
  cl_mem mem = clCreateBuffer(w.context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  must(code, "buffer");
  const unsigned char* const whole = with.all.data() + (bytes + a * 7 + b) % Filling::Begins;
  const unsigned char* const part = whole + Filling::Apart;
  unsigned char* const seen = with.seen.data();
  const size_t at = bytes / 2, part_bytes = bytes / 3, then = at + part_bytes;
  const auto good = [&] {
    return std::equal(seen, seen + at, whole) && std::equal(seen + at, seen + then, part) &&
           std::equal(seen + then, seen + bytes, whole + then);
  };
  cl_event written = nullptr, changed = nullptr;
  must(clEnqueueWriteBuffer(w.queues[a], mem, CL_FALSE, 0, bytes, whole, 0, nullptr, &written), "write");
  must(clFlush(w.queues[a]), "flush");
  if (part_bytes > 0) {
    must(clEnqueueWriteBuffer(w.queues[b], mem, CL_FALSE, at, part_bytes, part, 1, &written, &changed), "write");
    must(clFlush(w.queues[b]), "flush");
  }
  const cl_uint waits = changed ? 1 : 0;
  const cl_event* const event = changed ? &changed : nullptr;
  must(clEnqueueReadBuffer(w.queues[a], mem, CL_TRUE, 0, bytes, seen, waits, event, nullptr), "read");
  const bool on_the_first = good();
  must(clEnqueueReadBuffer(w.queues[b], mem, CL_TRUE, 0, bytes, seen, 0, nullptr, nullptr), "read");
  clReleaseEvent(written);
  if (changed) clReleaseEvent(changed);
  clReleaseMemObject(mem);
  return on_the_first && good();
}

int moves() {
  World w = make_world();
  constexpr size_t Sizes[] = {1, 4096, 262144, 262145, 1000003, 1 << 20, (1 << 20) + 1, (9 << 20) + 5, (70 << 20) + 1};
  Filling filling(Sizes[std::size(Sizes) - 1]);
  for (size_t bytes : Sizes) {
    bool good = true;
    for (size_t a = 0; a < w.devices.size(); ++a)
      for (size_t b = 0; b < w.devices.size(); ++b) good = goes_round(w, filling, a, b, bytes) && good;
    check(std::to_string(bytes).c_str(), good);
  }
  end(w);
  return 0;
}

// A part of the first device, and the last one: the part is let go of while the context lives.
int part() {
  World w = make_world();
  const cl_device_partition_property one[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                              CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id sub = nullptr;
  must(clCreateSubDevices(w.devices[0], one, 1, &sub, nullptr), "a part of a device");
  end(w);
  w.devices = {sub, w.devices.back()};
  w.queues.clear();
  cl_int code = 0;
  w.context = clCreateContext(nullptr, 2, w.devices.data(), nullptr, nullptr, &code);
  must(code, "context");
  for (cl_device_id d : w.devices) w.queues.push_back(clCreateCommandQueue(w.context, d, 0, &code));
  check("context's devices", list(clGetContextInfo, w.context, CL_CONTEXT_DEVICES, 2) == w.devices);
  check("queue's device", list(clGetCommandQueueInfo, w.queues[0], CL_QUEUE_DEVICE, 1)[0] == sub);
  must(clReleaseDevice(sub), "release");
  Filling filling(3000000);
  check("contents", goes_round(w, filling, 0, 1, 3000000) && goes_round(w, filling, 1, 0, 5000));
  end(w);
  return 0;
}

// The first device is lost while it works; the last one, of the same context, goes on.
int lost() {
  World w = make_world();
  cl_int code = 0;
  Bytes data = pattern(1 << 20, 5), seen(data.size());
  cl_mem shared = clCreateBuffer(w.context, CL_MEM_READ_WRITE, data.size(), nullptr, &code);
  const cl_command_queue last = w.queues.back();
  must(clEnqueueWriteBuffer(last, shared, CL_TRUE, 0, data.size(), data.data(), 0, nullptr, nullptr), "write");
  const auto read = [&] {
    return clEnqueueReadBuffer(w.queues[0], shared, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr);
  };
  code = read();
  say("ready", code);
  while (code == CL_SUCCESS) code = read();
  say("lost", code);
  must(clEnqueueReadBuffer(last, shared, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr), "read");
  check("contents on the other", seen == data);
  cl_mem fresh = clCreateBuffer(w.context, CL_MEM_READ_WRITE, data.size(), nullptr, &code);
  say("new buffer", code);
  must(clEnqueueCopyBuffer(last, shared, fresh, 0, 0, data.size(), 0, nullptr, nullptr), "copy");
  std::fill(seen.begin(), seen.end(), 0);
  say("read", clEnqueueReadBuffer(last, fresh, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr));
  check("copied", seen == data);
  say("finish", clFinish(last));
  clReleaseMemObject(fresh);
  clReleaseMemObject(shared);
  end(w);
  return 0;
}

// Contents go from the first device to the last one, again and again, until one of them is lost; the last one goes on.
int churn() {
  World w = make_world();
  const cl_command_queue first = w.queues[0], last = w.queues.back();
  Bytes data = pattern(16 << 20, 6), seen(data.size());
  cl_int code = 0;
  cl_mem mem = clCreateBuffer(w.context, CL_MEM_READ_WRITE, data.size(), nullptr, &code);
  must(code, "buffer");
  say("ready", 0);
  bool same = true;
  for (unsigned char i = 0; code == CL_SUCCESS; ++i) {
    data[i] = i;
    code = clEnqueueWriteBuffer(first, mem, CL_TRUE, 0, data.size(), data.data(), 0, nullptr, nullptr);
    if (code != CL_SUCCESS) break;
    std::fill(seen.begin(), seen.end(), 0);
    code = clEnqueueReadBuffer(last, mem, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr);
    same = same && (code != CL_SUCCESS || seen == data);
  }
  check("contents until then", same);
  check("an error", code < 0);
  clReleaseMemObject(mem);
  mem = clCreateBuffer(w.context, CL_MEM_READ_WRITE, data.size(), nullptr, &code);
  say("new buffer", code);
  say("write", clEnqueueWriteBuffer(last, mem, CL_TRUE, 0, data.size(), data.data(), 0, nullptr, nullptr));
  say("read", clEnqueueReadBuffer(last, mem, CL_TRUE, 0, seen.size(), seen.data(), 0, nullptr, nullptr));
  check("its contents", seen == data);
  say("finish", clFinish(last));
  return 0;
}

// The second device gets contents of the first, which are large, and of the third: these do not wait for those.
int overtake() {
  World w = make_world();
  cl_int code = 0;
  const size_t sizes[] = {size_t{128} << 20, size_t{2} << 20};
  cl_mem from[2], to[2];
  cl_command_queue queues[2];
  cl_event ends[2];
  for (cl_uint i = 0; i < 2; ++i) {
    from[i] = clCreateBuffer(w.context, CL_MEM_READ_WRITE, sizes[i], nullptr, &code);
    must(code, "buffer");
    to[i] = clCreateBuffer(w.context, CL_MEM_READ_WRITE, sizeof i, nullptr, &code);
    must(code, "buffer");
    queues[i] = clCreateCommandQueue(w.context, w.devices[1], 0, &code);
    must(code, "queue");
    must(clEnqueueFillBuffer(w.queues[2 * i], from[i], &i, sizeof i, 0, sizes[i], 0, nullptr, nullptr), "fill");
    must(clFinish(w.queues[2 * i]), "finish");
  }
  for (int i = 0; i < 2; ++i) {
    must(clEnqueueCopyBuffer(queues[i], from[i], to[i], 0, 0, sizeof(cl_uint), 0, nullptr, &ends[i]), "copy");
    must(clFlush(queues[i]), "flush");
  }
  must(clWaitForEvents(1, &ends[1]), "wait");
  cl_int state = CL_COMPLETE;
  must(clGetEventInfo(ends[0], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr), "state");
  check("the small one is there first", state > CL_COMPLETE);
  for (cl_uint i = 0; i < 2; ++i) {
    cl_uint seen = 2;
    must(clEnqueueReadBuffer(queues[i], to[i], CL_TRUE, 0, sizeof seen, &seen, 0, nullptr, nullptr), "read");
    check("contents", seen == i);
    clReleaseEvent(ends[i]);
    clReleaseCommandQueue(queues[i]);
    clReleaseMemObject(from[i]);
    clReleaseMemObject(to[i]);
  }
  end(w);
  return 0;
}

// Ends while contents are on their way.
int leave() {
  World w = make_world();
  Bytes& data = *new Bytes(64 << 20);  // never freed: the device may still look at it
  Bytes& seen = *new Bytes(data.size());
  cl_int code = 0;
  cl_mem mem = clCreateBuffer(w.context, CL_MEM_READ_WRITE, data.size(), nullptr, &code);
  cl_event written = nullptr;
  must(clEnqueueWriteBuffer(w.queues[0], mem, CL_FALSE, 0, data.size(), data.data(), 0, nullptr, &written), "write");
  must(clFlush(w.queues[0]), "flush");
  must(clEnqueueReadBuffer(w.queues[1], mem, CL_FALSE, 0, seen.size(), seen.data(), 1, &written, nullptr), "read");
  must(clFlush(w.queues[1]), "flush");
  say("leaving", 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "handles") return handles();
  if (mode == "moves") return moves();
  if (mode == "part") return part();
  if (mode == "lost") return lost();
  if (mode == "overtake") return overtake();
  if (mode == "leave") return leave();
  if (mode == "churn") return churn();
  std::fprintf(stderr, "Usage: spanning handles|moves|part|lost|overtake|leave|churn\n");
  return 2;
}
