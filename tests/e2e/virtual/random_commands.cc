// Random OpenCL programs: the same seed gives the same commands on any platform, and must give the same bytes.
//
// Usage: random_commands FIRST_SEED COUNT [plain]      plain: without shared virtual memory
// Prints a line for each program: its seed, and a digest of everything that it read. Commands go to several queues (in
// order and out of order) of a context and touch buffers, sub-buffers and images; each waits for what it needs, by
// events, so the result is determined. Half of the programs have a context of every device of the first platform, the
// others one of one device, and shared virtual memory there.
#include "tests/e2e/virtual/random_shared.h"

namespace {

const char* const Source = R"(
typedef struct { uint a; uint b[3]; } Pair;
kernel void scale(global uint* a, uint by, uint plus) {
  size_t i = get_global_id(0);
  a[i] = a[i] * by + plus + (uint)i;
}
kernel void blend(global const uint* a, global uint* b, Pair p, uint n) {
  size_t i = get_global_id(0);
  b[i] = b[i] ^ (a[(i + p.a) % n] + p.b[i % 3]);
}
kernel void turn(global uint* a, local uint* t, constant uint* c) {
  size_t l = get_local_id(0), n = get_local_size(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[n - 1 - l] + c[l % 4];
}
kernel void plane(global uchar* a, uint pitch) {
  a[get_global_id(1) * pitch + get_global_id(0)] += (uchar)(get_global_id(0) * 7 + get_global_id(1));
}
kernel void paint(read_only image2d_t from, write_only image2d_t to) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  write_imageui(to, at, read_imageui(from, s, at) + (uint4)(1, 2, 3, 4));
}
typedef struct { global uint* at; ulong count; } Entry;
kernel void link(global Entry* t, uint i, global uint* at, ulong count) {
  t[i].at = at;
  t[i].count = count;
}
kernel void reach(global const Entry* t, uint n, uint plus) {
  for (uint e = 0; e < n; ++e)
    for (size_t i = get_global_id(0); i < t[e].count; i += get_global_size(0))
      t[e].at[i] = t[e].at[i] * 3 + plus + (uint)i;
}
)";

class Program : SharedSteps {
 public:
  Program(const World& world, uint64_t seed) : SharedSteps(world, seed) {
    for (const char* name : {"scale", "blend", "turn", "plane", "paint"}) kernels_.push_back(kernel(name));
  }
  ~Program() {
    for (cl_kernel k : kernels_) CHECK(clReleaseKernel(k));
  }

  uint64_t run() {
    for (size_t i = 0, n = 20 + pick(40); i < n; ++i) step();
    open_gates();
    for (cl_command_queue q : queues_) CHECK(clFinish(q));
    for (const Pending& p : pending_) {
      cl_int status = 1;
      CHECK(clGetEventInfo(p.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
      CHECK(status);
      digest_.add(p.bytes->data(), p.bytes->size());
    }
    for (Contents& c : all_) c.shared ? look_at_shared(c) : look_at(c);
    count_freed();
    return digest_.value;
  }

 private:
  void step() {
    if (world_.shared && chance(2)) return shared_step();
    switch (pick(21)) {
      case 0: return write();
      case 1: return read();
      case 2: return copy();
      case 3: return fill();
      case 4: return map_buffer();
      case 5: return rect(true);
      case 6: return rect(false);
      case 7: return launch_scale();
      case 8: return launch_blend();
      case 9: return launch_turn();
      case 10: return launch_plane();
      case 11: return image_transfer();
      case 12: return image_copy();
      case 13: return launch_paint();
      case 14: return copy_rect();
      case 15: return copy_image();
      case 16: return read_maps();
      case 17: return order();
      case 18: return replace();
      case 19: return relay();
      default: return synchronize();
    }
  }

  void write() {
    Contents& c = some_buffer();
    const View v = view(c);
    const size_t offset = pick(v.bytes), size = 1 + pick(v.bytes - offset);
    const auto waits = needs({}, {&c});
    const bool blocking = chance(3);
    if (blocking) open_gates();
    kept_.push_back(bytes(size));
    cl_event event;
    CHECK(clEnqueueWriteBuffer(queue(), v.mem, blocking, offset, size, kept_.back().data(), count(waits), list(waits),
                               &event));
    if (blocking) std::memset(kept_.back().data(), 0, size);  // ours again
    did(event, {}, {&c});
  }
  void read() {
    Contents& c = some_buffer();
    const View v = view(c);
    const size_t offset = pick(v.bytes), size = 1 + pick(v.bytes - offset);
    const auto waits = needs({&c}, {});
    const bool blocking = chance(3);
    if (blocking) open_gates();
    auto* to = new std::vector<uint8_t>(size);
    cl_event event;
    CHECK(clEnqueueReadBuffer(queue(), v.mem, blocking, offset, size, to->data(), count(waits), list(waits), &event));
    if (blocking) digest_.add(to->data(), size);
    did(event, {&c}, {});
    pending_.push_back({event, to});
  }
  void copy() {
    Contents &a = some_buffer(), &b = some_buffer();
    if (&a == &b) return;
    const size_t size = 1 + pick(std::min(a.bytes, b.bytes));
    const size_t from = pick(a.bytes - size + 1), to = pick(b.bytes - size + 1);
    const auto waits = needs({&a}, {&b});
    cl_event event;
    CHECK(clEnqueueCopyBuffer(queue(), a.mem, b.mem, from, to, size, count(waits), list(waits), &event));
    did(event, {&a}, {&b});
  }
  void fill() {
    Contents& c = some_buffer();
    const View v = view(c);
    const size_t unit = size_t{1} << pick(5);
    const size_t units = v.bytes / unit, first = pick(units), n = 1 + pick(units - first);
    const std::vector<uint8_t> pattern = bytes(unit);
    const auto waits = needs({}, {&c});
    cl_event event;
    CHECK(clEnqueueFillBuffer(queue(), v.mem, pattern.data(), unit, first * unit, n * unit, count(waits), list(waits),
                              &event));
    did(event, {}, {&c});
  }
  void map_buffer() {
    Contents& c = some_buffer();
    const View v = view(c);
    const size_t offset = pick(v.bytes), size = 1 + pick(v.bytes - offset);
    const cl_map_flags flags = MapFlags[pick(4)];
    const auto waits = needs({}, {&c});
    open_gates();
    const cl_command_queue q = queue();
    const bool blocking = chance(2);
    cl_event mapped, unmapped;
    cl_int code = 0;
    auto* p = static_cast<uint8_t*>(clEnqueueMapBuffer(q, v.mem, blocking, flags, offset, size, count(waits),
                                                       list(waits), &mapped, &code));
    CHECK(code);
    events_.push_back(mapped);
    if (blocking || !leaves_alone(flags)) {
      if (!blocking) CHECK(clWaitForEvents(1, &mapped));
      use_mapped(p, size, flags);
    }
    CHECK(clEnqueueUnmapMemObject(q, v.mem, p, 1, &mapped, &unmapped));
    did(unmapped, {}, {&c});
  }
  void rect(bool to_device) {
    Contents& c = some_buffer();
    const size_t row = 64, rows = c.bytes / row / 2;  // two slices
    const size_t region[3] = {1 + pick(row), 1 + pick(rows), 1 + pick(2)};
    const size_t origin[3] = {pick(row - region[0] + 1), pick(rows - region[1] + 1), pick(3 - region[2])};
    const size_t host_row = region[0] + pick(9), host_slice = host_row * (region[1] + pick(3));
    const size_t host_origin[3] = {pick(host_row - region[0] + 1), 0, 0};
    const size_t size = host_slice * region[2];
    const bool blocking = chance(3);
    const auto waits = to_device ? needs({}, {&c}) : needs({&c}, {});
    if (blocking) open_gates();
    cl_event event;
    if (to_device) {
      kept_.push_back(bytes(size));
      CHECK(clEnqueueWriteBufferRect(queue(), c.mem, blocking, origin, host_origin, region, row, row * rows, host_row,
                                     host_slice, kept_.back().data(), count(waits), list(waits), &event));
      return did(event, {}, {&c});
    }
    auto* to = new std::vector<uint8_t>(size);
    CHECK(clEnqueueReadBufferRect(queue(), c.mem, blocking, origin, host_origin, region, row, row * rows, host_row,
                                  host_slice, to->data(), count(waits), list(waits), &event));
    did(event, {&c}, {});
    pending_.push_back({event, to});
  }

  // Between two buffers, or inside one of them.
  void copy_rect() {
    Contents &a = some_buffer(), &b = some_buffer();
    const size_t row = 64, rows = std::min(a.bytes, b.bytes) / row / 2;  // two slices
    const size_t region[3] = {1 + pick(row), 1 + pick(&a == &b ? rows / 2 : rows), 1 + pick(2)};
    const size_t from[3] = {pick(row - region[0] + 1), 0, pick(3 - region[2])};
    const size_t lowest = &a == &b ? rows / 2 : 0;  // no overlap
    const size_t to[3] = {pick(row - region[0] + 1), lowest + pick(rows - lowest - region[1] + 1),
                          pick(3 - region[2])};
    const auto waits = needs({&a}, {&b});
    cl_event event;
    CHECK(clEnqueueCopyBufferRect(queue(), a.mem, b.mem, from, to, region, row, row * rows, row, row * rows,
                                  count(waits), list(waits), &event));
    did(event, &a == &b ? std::vector<Contents*>{} : std::vector<Contents*>{&a}, {&b});
  }
  // Several maps for reading at once, given back in another order and on other queues.
  void read_maps() {
    Contents& c = some_buffer();
    const auto waits = needs({&c}, {});
    open_gates();
    struct Map {
      void* at;
      cl_event event;
    };
    std::vector<Map> maps;
    for (size_t i = 0, n = 2 + pick(2); i < n; ++i) {
      const size_t offset = pick(c.bytes), size = 1 + pick(c.bytes - offset);
      cl_int code = 0;
      cl_event event;
      void* const p = clEnqueueMapBuffer(queue(), c.mem, CL_TRUE, CL_MAP_READ, offset, size, count(waits), list(waits),
                                         &event, &code);
      CHECK(code);
      digest_.add(p, size);
      maps.push_back({p, event});
    }
    for (size_t i = maps.size(); i-- > 0;) {
      cl_event unmapped;
      CHECK(clEnqueueUnmapMemObject(queue(), c.mem, maps[i].at, 1, &maps[i].event, &unmapped));
      events_.push_back(maps[i].event);
      did(unmapped, {&c}, {});
    }
  }
  // Out of one buffer into another by the program's memory, while nobody waits.
  void relay() {
    Contents &a = some_buffer(), &b = some_buffer();
    if (&a == &b) return;
    const size_t size = 1 + pick(std::min(a.bytes, b.bytes));
    kept_.emplace_back(size);
    void* const by = kept_.back().data();
    cl_event there, back;
    const auto waits = needs({&a}, {});
    CHECK(clEnqueueReadBuffer(queue(), a.mem, CL_FALSE, a.bytes - size, size, by, count(waits), list(waits), &there));
    did(there, {&a}, {});
    auto then = needs({}, {&b});
    then.push_back(there);
    CHECK(clEnqueueWriteBuffer(queue(), b.mem, CL_FALSE, 0, size, by, count(then), list(then), &back));
    did(back, {}, {&b});
  }
  // A marker or a barrier behind a wait list, contents told to move, or an object retained and released: no byte
  // changes.
  void order() {
    Contents& c = chance(2) ? some_image() : some_buffer();
    const auto waits = needs({&c}, {});
    cl_event event;
    switch (pick(4)) {
      case 0: CHECK(clEnqueueMarkerWithWaitList(queue(), count(waits), list(waits), &event)); break;
      case 1: CHECK(clEnqueueBarrierWithWaitList(queue(), count(waits), list(waits), &event)); break;
      case 2:
        CHECK(clEnqueueMigrateMemObjects(queue(), 1, &c.mem, chance(2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0, count(waits),
                                         list(waits), &event));
        break;
      default:
        CHECK(clRetainMemObject(c.mem));
        return CHECK(clReleaseMemObject(c.mem));
    }
    did(event, {&c}, {});
  }
  // A buffer is released with commands on it under way, and another one takes its place.
  void replace() {
    const Contents& old = some_buffer();
    if (!old.host.empty() || old.shared) return;  // the memory would have to stay
    const auto place = static_cast<size_t>(&old - all_.data());
    release(old);
    open_gates();
    make_buffer();
    all_[place] = std::move(all_.back());
    all_.pop_back();
  }

  void launch_scale() {
    Contents& c = some_buffer();
    const View v = view(c);
    const cl_uint by = word() | 1, plus = word();
    set(kernels_[0], 0, sizeof v.mem, &v.mem);
    if (chance(2)) set(kernels_[0], 1, sizeof by, &by);
    else if (!scaled_) set(kernels_[0], 1, sizeof by, &by);
    scaled_ = true;
    set(kernels_[0], 2, sizeof plus, &plus);
    const size_t global = v.bytes / 4, local = 32;
    launch(kernels_[0], 1, &global, chance(2) ? &local : nullptr, {}, {&c});
  }
  void launch_blend() {
    Contents &a = some_pages(), &b = some_pages();
    if (&a == &b) return;
    const cl_uint pair[4] = {word() % 100, word(), word(), word()};
    const cl_uint n = static_cast<cl_uint>(a.bytes / 4);
    set(kernels_[1], 0, a);
    set(kernels_[1], 1, b);
    set(kernels_[1], 2, sizeof pair, pair);
    set(kernels_[1], 3, sizeof n, &n);
    const size_t global = b.bytes / 4;
    launch(kernels_[1], 1, &global, nullptr, {&a}, {&b});
  }
  void launch_turn() {
    Contents &a = some_pages(), &c = some_pages();
    if (&a == &c) return;
    set(kernels_[2], 0, a);
    const size_t local = size_t{8} << pick(3), global = a.bytes / 4;
    set(kernels_[2], 1, local * 4, nullptr);
    set(kernels_[2], 2, c);
    launch(kernels_[2], 1, &global, &local, {&c}, {&a});
  }
  void launch_plane() {
    Contents& c = some_pages();
    const cl_uint pitch = 64;
    set(kernels_[3], 0, c);
    set(kernels_[3], 1, sizeof pitch, &pitch);
    const size_t global[2] = {64, c.bytes / 64};
    launch(kernels_[3], 2, global, nullptr, {}, {&c});
  }
  void launch_paint() {
    Contents& a = some_image();
    Contents& b = some_image(&a);
    set(kernels_[4], 0, sizeof a.mem, &a.mem);
    set(kernels_[4], 1, sizeof b.mem, &b.mem);
    const size_t global[2] = {64, std::min(a.height, b.height)};
    launch(kernels_[4], 2, global, nullptr, {&a}, {&b});
  }

  void image_region(const Contents& c, size_t* origin, size_t* region) {
    region[0] = 1 + pick(c.width);
    region[1] = 1 + pick(c.height);
    region[2] = 1;
    origin[0] = pick(c.width - region[0] + 1);
    origin[1] = pick(c.height - region[1] + 1);
    origin[2] = 0;
  }
  void image_transfer() {
    Contents& c = some_image();
    size_t origin[3], region[3];
    image_region(c, origin, region);
    const size_t row = region[0] * 4 + 4 * pick(5);
    cl_event event;
    if (chance(3)) return map_image(c, origin, region);
    if (chance(2)) {
      const auto waits = needs({}, {&c});
      kept_.push_back(bytes(row * region[1]));
      CHECK(clEnqueueWriteImage(queue(), c.mem, CL_FALSE, origin, region, row, 0, kept_.back().data(), count(waits),
                                list(waits), &event));
      return did(event, {}, {&c});
    }
    const auto waits = needs({&c}, {});
    auto* to = new std::vector<uint8_t>(row * region[1]);
    CHECK(clEnqueueReadImage(queue(), c.mem, CL_FALSE, origin, region, row, 0, to->data(), count(waits), list(waits),
                             &event));
    did(event, {&c}, {});
    pending_.push_back({event, to});
  }
  void map_image(Contents& c, const size_t* origin, const size_t* region) {
    const auto waits = needs({}, {&c});
    open_gates();
    const cl_command_queue q = queue();
    size_t pitch = 0;
    cl_event mapped, unmapped;
    cl_int code = 0;
    const cl_map_flags flags = MapFlags[pick(4)];
    auto* p = static_cast<uint8_t*>(clEnqueueMapImage(q, c.mem, CL_TRUE, flags, origin, region, &pitch, nullptr,
                                                      count(waits), list(waits), &mapped, &code));
    CHECK(code);
    events_.push_back(mapped);
    for (size_t y = 0; y < region[1]; ++y) {
      uint8_t* const row = p + y * pitch;
      if (flags & (CL_MAP_READ | CL_MAP_WRITE)) digest_.add(row, region[0] * 4);
      if (flags & CL_MAP_WRITE) row[0] = static_cast<uint8_t>(word());
      if (flags & CL_MAP_WRITE_INVALIDATE_REGION) std::memset(row, static_cast<int>(pick(256)), region[0] * 4);
    }
    CHECK(clEnqueueUnmapMemObject(q, c.mem, p, 1, &mapped, &unmapped));
    did(unmapped, {}, {&c});
  }
  void copy_image() {
    Contents& a = some_image();
    Contents& b = some_image(&a);
    const size_t region[3] = {1 + pick(a.width), 1 + pick(std::min(a.height, b.height)), 1};
    const size_t from[3] = {pick(a.width - region[0] + 1), pick(a.height - region[1] + 1), 0};
    const size_t to[3] = {pick(b.width - region[0] + 1), pick(b.height - region[1] + 1), 0};
    const auto waits = needs({&a}, {&b});
    cl_event event;
    CHECK(clEnqueueCopyImage(queue(), a.mem, b.mem, from, to, region, count(waits), list(waits), &event));
    did(event, {&a}, {&b});
  }
  void image_copy() {
    Contents& a = some_image();
    size_t origin[3], region[3];
    image_region(a, origin, region);
    cl_event event;
    if (chance(2)) {
      Contents& b = some_buffer();
      const size_t size = region[0] * region[1] * 4;
      if (size > b.bytes) return;
      const size_t offset = pick((b.bytes - size) / 4 + 1) * 4;
      const bool out = chance(2);
      const auto waits = out ? needs({&a}, {&b}) : needs({&b}, {&a});
      if (out) {
        CHECK(clEnqueueCopyImageToBuffer(queue(), a.mem, b.mem, origin, region, offset, count(waits), list(waits),
                                         &event));
        return did(event, {&a}, {&b});
      }
      CHECK(clEnqueueCopyBufferToImage(queue(), b.mem, a.mem, offset, origin, region, count(waits), list(waits),
                                       &event));
      return did(event, {&b}, {&a});
    }
    const cl_uint colour[4] = {word() & 255, word() & 255, word() & 255, word() & 255};
    const auto waits = needs({}, {&a});
    CHECK(clEnqueueFillImage(queue(), a.mem, colour, origin, region, count(waits), list(waits), &event));
    did(event, {}, {&a});
  }

  void synchronize() {
    open_gates();
    cl_event event;
    switch (pick(5)) {
      case 0: return CHECK(clFinish(queue()));
      case 1: return CHECK(clFlush(queue()));
      case 2:
        if (!events_.empty()) CHECK(clWaitForEvents(1, &events_[pick(events_.size())]));
        return;
      case 3: CHECK(clEnqueueMarkerWithWaitList(queue(), 0, nullptr, &event)); break;
      default: CHECK(clEnqueueBarrierWithWaitList(queue(), 0, nullptr, &event));
    }
    events_.push_back(event);
  }

  void look_at(Contents& c) {
    std::vector<uint8_t> out(c.bytes);
    const size_t origin[3] = {}, region[3] = {c.width, c.height, 1};
    if (c.image) {
      CHECK(clEnqueueReadImage(queues_[0], c.mem, CL_TRUE, origin, region, 0, 0, out.data(), 0, nullptr, nullptr));
    } else {
      CHECK(clEnqueueReadBuffer(queues_[0], c.mem, CL_TRUE, 0, c.bytes, out.data(), 0, nullptr, nullptr));
    }
    digest_.add(out.data(), out.size());
  }

  std::vector<cl_kernel> kernels_;
  bool scaled_ = false;
};

std::vector<cl_device_id> find_devices() {
  cl_platform_id platform;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  cl_uint n = 0;
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n));
  std::vector<cl_device_id> devices(n);
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr));
  return devices;
}

World make_world(const std::vector<cl_device_id>& devices) {
  World w{};
  w.devices = devices;
  cl_int code = 0;
  w.context = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &code);
  CHECK(code);
  const char* source = Source;
  w.program = clCreateProgramWithSource(w.context, 1, &source, nullptr, &code);
  CHECK(code);
  CHECK(clBuildProgram(w.program, 0, nullptr, "", nullptr, nullptr));
  return w;
}

World make_shared_world(cl_device_id device) {
  World w = make_world({device});
  cl_device_svm_capabilities can = 0;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr));
  w.shared = can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
  w.fine = can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
  return w;
}

}  // namespace

int main(int argc, char** argv) {
  const bool plain = argc == 4 && !std::strcmp(argv[3], "plain"), coarse = argc == 4 && !std::strcmp(argv[3], "coarse");
  if (argc != 3 && !plain && !coarse) {
    std::fprintf(stderr, "Usage: random_commands FIRST_SEED COUNT [plain|coarse]\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[1], nullptr, 10), n = std::strtoull(argv[2], nullptr, 10);
  std::vector<cl_device_id> devices = find_devices();
  std::vector<World> shared;
  for (cl_device_id d : devices) shared.push_back(make_shared_world(d));
  if (coarse) std::ranges::for_each(shared, [](World& w) { w.fine = false; });
  std::vector<World> worlds{make_world(devices)};
  std::rotate(devices.begin(), devices.begin() + 1, devices.end());
  worlds.push_back(make_world(devices));
  for (g_seed = first; g_seed < first + n; ++g_seed) {
    const World& world = g_seed % 2 || plain ? worlds[g_seed / 2 % worlds.size()] : shared[g_seed / 2 % shared.size()];
    Program program(world, g_seed);
    std::printf("%llu %016llx\n", static_cast<unsigned long long>(g_seed),
                static_cast<unsigned long long>(program.run()));
  }
  worlds.insert(worlds.end(), shared.begin(), shared.end());
  for (const World& world : worlds) {
    CHECK(clReleaseProgram(world.program));
    CHECK(clReleaseContext(world.context));
  }
  return 0;
}
