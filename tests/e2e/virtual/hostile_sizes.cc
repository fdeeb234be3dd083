// Offsets, regions and pitches that no program means, also such whose sums and products do not fit into 64 bits: a line
// with the code of each call, that of the next clFinish, a sum of what its memory holds afterwards, and whether OpenCL
// allows the call. Each case depends on its number alone.
//
// Usage: hostile_sizes FIRST LAST [CASE...]      cases FIRST to LAST - 1, without those that are named
#include <CL/cl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Size = 4096;
constexpr size_t Nowhere[3] = {};
constexpr size_t HostSpan = size_t{1} << 38;
using Wide = unsigned __int128;  // no sum or product of four sizes overflows it
constexpr std::array<size_t, 22> Hostile = {
    0, 1, 3, 4, 15, 16, 17, 64, 100, Size - 1, Size, Size + 1,
    size_t{1} << 31, (size_t{1} << 32) - 1, size_t{1} << 32, size_t{1} << 60, size_t{1} << 61, size_t{1} << 62,
    size_t{1} << 63, SIZE_MAX - 15, SIZE_MAX - 3, SIZE_MAX};

// The arguments of one call by position: a sound one, in which one to three have become hostile.
class Case {
 public:
  explicit Case(unsigned number) : random_(number) {}

  bool allowed = true;

  size_t pick(size_t count) { return random_() % count; }
  void spoil(std::vector<size_t*> sizes) {
    for (size_t n = 1 + pick(3); n > 0; --n) *sizes[pick(sizes.size())] = Hostile[pick(Hostile.size())];
  }

 private:
  std::mt19937 random_;
};

// The middle of so much memory that whatever a driver takes lies inside, also where sums have wrapped around, unless it
// is beyond what addresses can say.
unsigned char* reserve() {
  void* const span =
      mmap(nullptr, HostSpan, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (span == MAP_FAILED) {
    std::perror("hostile_sizes: mmap");
    std::exit(1);
  }
  return static_cast<unsigned char*>(span) + HostSpan / 2;
}

// Does it lie inside, as the specification has it? Empty ranges are as inside as others; of empty boxes versions and
// drivers think as they like (drivers_limits.cc).
bool is_inside(size_t offset, size_t size, size_t whole) { return Wide{offset} + size <= whole; }

bool is_box_inside(const size_t* origin, const size_t* region, size_t row, size_t slice, size_t whole) {
  const Wide row_pitch = row ? row : region[0], slice_pitch = slice ? Wide{slice} : row_pitch * region[1];
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return false;
  if (row_pitch < region[0] || slice_pitch < row_pitch * region[1]) return false;
  const Wide bytes = (Wide{region[2]} - 1) * slice_pitch + (Wide{region[1]} - 1) * row_pitch + region[0];
  return origin[2] * slice_pitch + origin[1] * row_pitch + origin[0] + bytes <= whole;
}

struct Memory {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem a = nullptr, b = nullptr, plane = nullptr, block = nullptr;  // buffers of Size, images 16 x 4 and 8 x 4 x 4
  unsigned char* const host = reserve();

  void make() {
    madvise(host - HostSpan / 2, HostSpan, MADV_DONTNEED);  // what earlier cases read there
    std::iota(host, host + 4 * Size, static_cast<unsigned char>(0));
    a = buffer();
    b = buffer();
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = 16;
    desc.image_height = 4;
    plane = image(desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE3D;
    desc.image_width = 8;
    desc.image_depth = 4;
    block = image(desc);
  }
  void release() {
    CHECK(clFinish(queue));
    for (cl_mem mem : {a, b, plane, block}) clReleaseMemObject(mem);
  }
  // Of all that a call may have written.
  unsigned sum() {
    std::vector<unsigned char> back(Size);
    unsigned hash = 2166136261U;
    const auto add = [&](std::span<const unsigned char> bytes) {
      for (unsigned char byte : bytes) hash = (hash ^ byte) * 16777619U;
    };
    add({host, 4 * Size});
    for (cl_mem mem : {a, b}) {
      CHECK(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, Size, back.data(), 0, nullptr, nullptr));
      add(back);
    }
    const size_t flat[3] = {16, 4, 1}, deep[3] = {8, 4, 4};
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    CHECK(clEnqueueReadImage(queue, plane, CL_TRUE, Nowhere, flat, 0, 0, back.data(), 0, nullptr, nullptr));
    add(back);
    CHECK(clEnqueueReadImage(queue, block, CL_TRUE, Nowhere, deep, 0, 0, back.data(), 0, nullptr, nullptr));
    add(back);
    return hash;
  }

 private:
  cl_mem buffer() {
    cl_int code = 0;
    const cl_mem made =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Size, host, &code);
    CHECK(code);
    return made;
  }
  cl_mem image(const cl_image_desc& desc) {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_int code = 0;
    const cl_mem made =
        clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, host, &code);
    CHECK(code);
    return made;
  }
};

cl_int unmapped(Memory& m, cl_mem mem, void* mapped, cl_int code) {
  return code || !mapped ? code : clEnqueueUnmapMemObject(m.queue, mem, mapped, 0, nullptr, nullptr);
}

cl_int write_buffer(Memory& m, Case& c) {
  size_t offset = 64, size = 256;
  c.spoil({&offset, &size});
  c.allowed = is_inside(offset, size, Size);
  return clEnqueueWriteBuffer(m.queue, m.a, CL_TRUE, offset, size, m.host, 0, nullptr, nullptr);
}

cl_int read_buffer(Memory& m, Case& c) {
  size_t offset = 64, size = 256;
  c.spoil({&offset, &size});
  c.allowed = is_inside(offset, size, Size);
  return clEnqueueReadBuffer(m.queue, m.a, CL_TRUE, offset, size, m.host, 0, nullptr, nullptr);
}

cl_int copy_buffer(Memory& m, Case& c) {
  size_t from = 64, to = 128, size = 256;
  c.spoil({&from, &to, &size});
  c.allowed = is_inside(from, size, Size) && is_inside(to, size, Size);
  return clEnqueueCopyBuffer(m.queue, m.a, m.b, from, to, size, 0, nullptr, nullptr);
}

cl_int fill_buffer(Memory& m, Case& c) {
  const uint32_t pattern = 0x01020304;
  size_t offset = 64, size = 256;
  c.spoil({&offset, &size});
  c.allowed = is_inside(offset, size, Size);
  return clEnqueueFillBuffer(m.queue, m.a, &pattern, sizeof pattern, offset, size, 0, nullptr, nullptr);
}

cl_int map_buffer(Memory& m, Case& c) {
  size_t offset = 64, size = 256;
  c.spoil({&offset, &size});
  c.allowed = is_inside(offset, size, Size);
  cl_int code = 0;
  void* const mapped =
      clEnqueueMapBuffer(m.queue, m.a, CL_TRUE, CL_MAP_READ, offset, size, 0, nullptr, nullptr, &code);
  return unmapped(m, m.a, mapped, code);
}

cl_int sub_buffer(Memory& m, Case& c) {
  cl_buffer_region region{1024, 256};
  c.spoil({&region.origin, &region.size});
  c.allowed = region.size != 0 && is_inside(region.origin, region.size, Size);
  cl_int code = 0;
  const cl_mem part = clCreateSubBuffer(m.a, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  if (part) clReleaseMemObject(part);
  return code;
}

// A box of eight bytes by four rows by two slices, in two layouts.
struct Boxes {
  size_t here[3] = {8, 1, 1}, there[3] = {16, 2, 1}, region[3] = {8, 4, 2};
  size_t row = 32, slice = 256, other_row = 64, other_slice = 512;

  // The other side is a buffer, or memory of the program.
  Boxes(Case& c, bool other_is_buffer) {
    if (c.pick(2) == 0) row = slice = 0;
    if (c.pick(2) == 0) other_row = other_slice = 0;
    c.spoil({&here[0], &here[1], &here[2], &there[0], &there[1], &there[2], &region[0], &region[1], &region[2], &row,
             &slice, &other_row, &other_slice, &region[0], &region[1], &region[2]});
    c.allowed = is_box_inside(here, region, row, slice, Size) &&
                is_box_inside(there, region, other_row, other_slice, other_is_buffer ? Size : HostSpan / 2);
  }
};

cl_int write_box(Memory& m, Case& c) {
  const Boxes b(c, false);
  return clEnqueueWriteBufferRect(m.queue, m.a, CL_TRUE, b.here, b.there, b.region, b.row, b.slice, b.other_row,
                                  b.other_slice, m.host, 0, nullptr, nullptr);
}

cl_int read_box(Memory& m, Case& c) {
  const Boxes b(c, false);
  return clEnqueueReadBufferRect(m.queue, m.a, CL_TRUE, b.here, b.there, b.region, b.row, b.slice, b.other_row,
                                 b.other_slice, m.host, 0, nullptr, nullptr);
}

cl_int copy_box(Memory& m, Case& c) {
  const Boxes b(c, true);
  return clEnqueueCopyBufferRect(m.queue, m.a, m.b, b.here, b.there, b.region, b.row, b.slice, b.other_row,
                                 b.other_slice, 0, nullptr, nullptr);
}

// A part of one of the images.
struct Texels {
  cl_mem image;
  size_t origin[3] = {2, 1, 0}, region[3] = {4, 2, 1}, row = 0, slice = 0;

  // With or without memory of the program, which has pitches.
  Texels(Memory& m, Case& c, bool has_pitches) : image(m.plane) {
    if (c.pick(2) == 0) {
      image = m.block;
      origin[2] = 1;
      region[2] = 2;
    }
    if (c.pick(2) == 0) row = 64;
    if (image == m.block && row && c.pick(2) == 0) slice = 512;
    std::vector<size_t*> sizes = {&origin[0], &origin[1], &origin[2], &region[0], &region[1], &region[2]};
    if (has_pitches) sizes.insert(sizes.end(), {&row, &slice});
    c.spoil(sizes);
    c.allowed = is_part_of(image == m.block, origin) &&
                (!has_pitches || is_box_inside(Nowhere, texel_bytes().data(), row, slice, HostSpan / 2));
  }
  // Of the image of that kind.
  bool is_part_of(bool block, const size_t* at) const {
    return region[0] != 0 && region[1] != 0 && region[2] != 0 && is_inside(at[0], region[0], block ? 8 : 16) &&
           is_inside(at[1], region[1], 4) && is_inside(at[2], region[2], block ? 4 : 1);
  }
  std::array<size_t, 3> texel_bytes() const { return {region[0] * 4, region[1], region[2]}; }
  bool is_inside_buffer(size_t offset) const {
    return is_inside(offset, region[0] * 4 * region[1] * region[2], Size);
  }
};

cl_int write_image(Memory& m, Case& c) {
  const Texels t(m, c, true);
  return clEnqueueWriteImage(m.queue, t.image, CL_TRUE, t.origin, t.region, t.row, t.slice, m.host, 0, nullptr,
                             nullptr);
}

cl_int read_image(Memory& m, Case& c) {
  const Texels t(m, c, true);
  return clEnqueueReadImage(m.queue, t.image, CL_TRUE, t.origin, t.region, t.row, t.slice, m.host, 0, nullptr,
                            nullptr);
}

cl_int map_image(Memory& m, Case& c) {
  const Texels t(m, c, false);
  cl_int code = 0;
  size_t row = 0, slice = 0;
  void* const mapped = clEnqueueMapImage(m.queue, t.image, CL_TRUE, CL_MAP_READ, t.origin, t.region, &row, &slice, 0,
                                         nullptr, nullptr, &code);
  return unmapped(m, t.image, mapped, code);
}

cl_int fill_image(Memory& m, Case& c) {
  const Texels t(m, c, false);
  const cl_uint color[4] = {1, 2, 3, 4};
  return clEnqueueFillImage(m.queue, t.image, color, t.origin, t.region, 0, nullptr, nullptr);
}

cl_int copy_image(Memory& m, Case& c) {
  const Texels t(m, c, false);
  size_t to[3] = {1, 1, 0};
  if (c.pick(3) == 0) c.spoil({&to[0], &to[1], &to[2]});
  const cl_mem target = c.pick(2) == 0 ? m.plane : m.block;
  if (target == t.image) return CL_SUCCESS;  // they may overlap
  c.allowed = c.allowed && t.is_part_of(target == m.block, to);
  return clEnqueueCopyImage(m.queue, t.image, target, t.origin, to, t.region, 0, nullptr, nullptr);
}

cl_int image_to_buffer(Memory& m, Case& c) {
  const Texels t(m, c, false);
  size_t offset = 64;
  if (c.pick(2) == 0) c.spoil({&offset});
  c.allowed = c.allowed && t.is_inside_buffer(offset);
  return clEnqueueCopyImageToBuffer(m.queue, t.image, m.a, t.origin, t.region, offset, 0, nullptr, nullptr);
}

cl_int buffer_to_image(Memory& m, Case& c) {
  const Texels t(m, c, false);
  size_t offset = 64;
  if (c.pick(2) == 0) c.spoil({&offset});
  c.allowed = c.allowed && t.is_inside_buffer(offset);
  return clEnqueueCopyBufferToImage(m.queue, m.a, t.image, offset, t.origin, t.region, 0, nullptr, nullptr);
}

struct Function {
  const char* name;
  cl_int (*call)(Memory&, Case&);
};
constexpr Function Functions[] = {
    {"write buffer", write_buffer}, {"read buffer", read_buffer},  {"copy buffer", copy_buffer},
    {"fill buffer", fill_buffer},   {"map buffer", map_buffer},    {"part of a buffer", sub_buffer},
    {"write box", write_box},       {"read box", read_box},        {"copy box", copy_box},
    {"write image", write_image},   {"read image", read_image},    {"map image", map_image},
    {"fill image", fill_image},     {"copy image", copy_image},    {"image to buffer", image_to_buffer},
    {"buffer to image", buffer_to_image}};

unsigned number_in(const char* text) { return static_cast<unsigned>(std::strtoul(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: hostile_sizes FIRST LAST [CASE...]\n");
    return 2;
  }
  std::set<unsigned> skipped;
  for (int i = 3; i < argc; ++i) skipped.insert(number_in(argv[i]));
  Memory m;
  cl_device_id device = nullptr;
  open_first_device(device, m.context, m.queue);
  const unsigned last = number_in(argv[2]);
  for (unsigned number = number_in(argv[1]); number < last; ++number) {
    if (skipped.contains(number)) continue;
    const Function& function = Functions[number % std::size(Functions)];
    m.make();
    Case c(number);
    const cl_int code = function.call(m, c);
    const cl_int finish = clFinish(m.queue);
    std::printf("%u %s: %d %d %08x %s\n", number, function.name, code, finish, m.sum(),
                c.allowed ? "allowed" : "wrong");
    std::fflush(stdout);
    m.release();
  }
}
