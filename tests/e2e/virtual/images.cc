// Images of every type and many formats: made from memory, written, filled, copied, moved to and from buffers, mapped,
// and used by kernels. Prints a digest of what came of each step, or its error; the same on any platform over the same
// device.
#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

using Three = std::array<size_t, 3>;
using Bytes = std::vector<uint8_t>;

cl_device_id g_device;
cl_context g_context;
cl_command_queue g_queue;

struct Type {
  const char* name;
  cl_mem_object_type type;
  Three whole;         // as regions count: a one-dimensional array's layers are the second
  const char* kernel;  // the OpenCL C type
  const char* at;      // coordinates of work item (x, y, z)
};
constexpr Type Types[] = {
    {"1D", CL_MEM_OBJECT_IMAGE1D, {37, 1, 1}, "image1d_t", "x"},
    {"1D of a buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, {40, 1, 1}, "", ""},
    {"1D array", CL_MEM_OBJECT_IMAGE1D_ARRAY, {21, 5, 1}, "image1d_array_t", "(int2)(x, y)"},
    {"2D", CL_MEM_OBJECT_IMAGE2D, {19, 11, 1}, "image2d_t", "(int2)(x, y)"},
    {"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {9, 7, 4}, "image2d_array_t", "(int4)(x, y, z, 0)"},
    {"3D", CL_MEM_OBJECT_IMAGE3D, {8, 6, 5}, "image3d_t", "(int4)(x, y, z, 0)"},
};

struct Format {
  const char* name;
  cl_image_format format;
  size_t bytes;
  char kind;  // what kernels read: f, i, u
};
constexpr Format Formats[] = {
    {"RGBA unorm 8", {CL_RGBA, CL_UNORM_INT8}, 4, 'f'},   {"BGRA unorm 8", {CL_BGRA, CL_UNORM_INT8}, 4, 'f'},
    {"RGBA float", {CL_RGBA, CL_FLOAT}, 16, 'f'},         {"R float", {CL_R, CL_FLOAT}, 4, 'f'},
    {"RGBA half", {CL_RGBA, CL_HALF_FLOAT}, 8, 'f'},      {"RGBA unorm 16", {CL_RGBA, CL_UNORM_INT16}, 8, 'f'},
    {"RGBA snorm 8", {CL_RGBA, CL_SNORM_INT8}, 4, 'f'},   {"A unorm 16", {CL_A, CL_UNORM_INT16}, 2, 'f'},
    {"RGBA int 8", {CL_RGBA, CL_SIGNED_INT8}, 4, 'i'},    {"R int 16", {CL_R, CL_SIGNED_INT16}, 2, 'i'},
    {"RGBA int 32", {CL_RGBA, CL_SIGNED_INT32}, 16, 'i'}, {"R uint 8", {CL_R, CL_UNSIGNED_INT8}, 1, 'u'},
    {"RGBA uint 16", {CL_RGBA, CL_UNSIGNED_INT16}, 8, 'u'}, {"RGBA uint 32", {CL_RGBA, CL_UNSIGNED_INT32}, 16, 'u'},
};

// Finite as floats of any size, and different everywhere.
Bytes pattern(size_t bytes, size_t seed) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>((i * 37 + i / 7 + seed * 11) & 0x3b);
  return out;
}

void say(const std::string& what, cl_int code) { std::printf("  %s: %d\n", what.c_str(), code); }
void say(const std::string& what, const Bytes& bytes) {
  uint64_t h = 14695981039346656037u;
  for (const uint8_t b : bytes) h = (h ^ b) * 1099511628211u;
  std::printf("  %s: %016llx\n", what.c_str(), static_cast<unsigned long long>(h));
}

size_t texels(const Three& region) { return region[0] * region[1] * region[2]; }

// A part of the image that touches no border where there is room.
Three part_origin(const Type& t) { return {2, t.whole[1] > 1 ? size_t{1} : 0, t.whole[2] > 1 ? size_t{1} : 0}; }
Three part_region(const Type& t) {
  return {t.whole[0] - 5, t.whole[1] > 1 ? t.whole[1] - 2 : 1, t.whole[2] > 1 ? t.whole[2] - 2 : 1};
}

struct Image {
  cl_mem mem = nullptr, buffer = nullptr;
  cl_int code = 0;

  Image(const Type& t, const Format& f, cl_mem_flags flags, Bytes* host) {
    cl_image_desc d{};
    d.image_type = t.type;
    d.image_width = t.whole[0];
    const bool line = t.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    d.image_height = line ? 0 : t.whole[1];
    d.image_depth = t.type == CL_MEM_OBJECT_IMAGE3D ? t.whole[2] : 0;
    if (line) d.image_array_size = t.whole[1];
    if (t.type == CL_MEM_OBJECT_IMAGE2D_ARRAY) d.image_array_size = t.whole[2];
    void* data = host ? host->data() : nullptr;
    if (t.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      buffer = clCreateBuffer(g_context, flags, t.whole[0] * f.bytes, data, &code);
      CHECK(code);
      d.mem_object = buffer;
      flags = 0;
      data = nullptr;
    }
    mem = clCreateImage(g_context, flags, &f.format, &d, data, &code);
  }
  ~Image() {
    if (mem) CHECK(clReleaseMemObject(mem));
    if (buffer) CHECK(clReleaseMemObject(buffer));
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
};

void show_contents(const char* what, const Image& image, const Type& t, const Format& f) {
  const Three zero{};
  Bytes back(texels(t.whole) * f.bytes);
  const cl_int code = clEnqueueReadImage(g_queue, image.mem, CL_TRUE, zero.data(), t.whole.data(), 0, 0, back.data(), 0,
                                         nullptr, nullptr);
  code == CL_SUCCESS ? say(what, back) : say(what, code);
}

// Without pitches: they are the driver's own.
void infos(const Image& image, const Format& f) {
  size_t sizes[5] = {}, width = 0;
  const cl_image_info asked[] = {CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH,
                                 CL_IMAGE_ARRAY_SIZE};
  for (int i = 0; i < 5; ++i) CHECK(clGetImageInfo(image.mem, asked[i], sizeof sizes[i], &sizes[i], &width));
  std::printf("  info: %zu %zu %zu %zu %zu of %zu\n", sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], width);
  cl_image_format format{};
  CHECK(clGetImageInfo(image.mem, CL_IMAGE_FORMAT, sizeof format, &format, nullptr));
  expect(format.image_channel_order == f.format.image_channel_order &&
             format.image_channel_data_type == f.format.image_channel_data_type, "  its format");
  cl_mem_object_type type = 0;
  CHECK(clGetMemObjectInfo(image.mem, CL_MEM_TYPE, sizeof type, &type, nullptr));
  cl_mem of = nullptr;
  CHECK(clGetMemObjectInfo(image.mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof of, &of, nullptr));
  std::printf("  type: %x%s\n", type, of == image.buffer ? "" : ", of another buffer");
}

void write_part(const Image& image, const Type& t, const Format& f) {
  const Three origin = part_origin(t), region = part_region(t);
  const size_t row = (region[0] + 3) * f.bytes, slice = row * (region[1] + 1);
  // The layers of a one-dimensional array are a slice pitch apart.
  const bool line = t.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const Bytes data = pattern((line ? row * region[1] : slice * region[2]) + row, 3);
  const size_t slices = line ? row : region[2] > 1 || t.whole[2] > 1 ? slice : 0;
  say("write", clEnqueueWriteImage(g_queue, image.mem, CL_TRUE, origin.data(), region.data(), row, slices, data.data(),
                                   0, nullptr, nullptr));
  show_contents("written", image, t, f);
  Bytes back(data.size());
  say("read", clEnqueueReadImage(g_queue, image.mem, CL_TRUE, origin.data(), region.data(), row, slices, back.data(), 0,
                                 nullptr, nullptr));
  say("read part", back);
}

void fill_part(const Image& image, const Type& t, const Format& f) {
  const Three origin = part_origin(t), region = part_region(t);
  const cl_float colours[4] = {0.25f, 0.5f, 0.75f, 1};
  const cl_int numbers[4] = {-3, 5, 7, -11};
  const cl_uint naturals[4] = {3, 5, 7, 11};
  const void* colour = f.kind == 'f'   ? static_cast<const void*>(colours)
                       : f.kind == 'i' ? static_cast<const void*>(numbers)
                                       : static_cast<const void*>(naturals);
  say("fill", clEnqueueFillImage(g_queue, image.mem, colour, origin.data(), region.data(), 0, nullptr, nullptr));
  show_contents("filled", image, t, f);
}

void copies(const Image& image, const Type& t, const Format& f) {
  const Three origin = part_origin(t), region = part_region(t), zero{};
  Bytes other_bytes = pattern(texels(t.whole) * f.bytes, 5);
  const Image other(t, f, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &other_bytes);
  CHECK(other.code);
  say("copy", clEnqueueCopyImage(g_queue, image.mem, other.mem, origin.data(), zero.data(), region.data(), 0, nullptr,
                                 nullptr));
  show_contents("copied", other, t, f);
  const size_t room = texels(t.whole) * f.bytes + 64;
  Bytes back = pattern(room, 6);
  cl_int code = 0;
  cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, room, back.data(), &code);
  CHECK(code);
  say("to a buffer", clEnqueueCopyImageToBuffer(g_queue, image.mem, buffer, origin.data(), region.data(), 32, 0,
                                                nullptr, nullptr));
  CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, room, back.data(), 0, nullptr, nullptr));
  say("buffer", back);
  say("from a buffer", clEnqueueCopyBufferToImage(g_queue, buffer, image.mem, 16, origin.data(), region.data(), 0,
                                                  nullptr, nullptr));
  show_contents("from it", image, t, f);
  CHECK(clReleaseMemObject(buffer));
}

// Through the pointer and the pitches that the map gave.
template <class Visit>
void each_row(const Type& t, const Three& region, uint8_t* base, size_t row, size_t slice, Visit visit) {
  const bool line = t.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  for (size_t z = 0; z < region[2]; ++z)
    for (size_t y = 0; y < region[1]; ++y) visit(base + z * slice + y * (line ? slice : row));
}

void maps(const Image& image, const Type& t, const Format& f) {
  const Three origin = part_origin(t), region = part_region(t);
  const size_t wide = region[0] * f.bytes;
  for (const cl_map_flags flags : {CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION}) {
    size_t row = 0, slice = 0;
    cl_int code = 0;
    void* const mapped = clEnqueueMapImage(g_queue, image.mem, CL_TRUE, flags, origin.data(), region.data(), &row,
                                           &slice, 0, nullptr, nullptr, &code);
    auto* const base = static_cast<uint8_t*>(mapped);
    say("map", code);
    if (code != CL_SUCCESS) continue;
    Bytes seen;
    size_t rows = 0;
    each_row(t, region, base, row, slice, [&](uint8_t* at) {
      if (flags & CL_MAP_READ) seen.insert(seen.end(), at, at + wide);
      if (flags & CL_MAP_READ && !(flags & CL_MAP_WRITE)) return;
      const Bytes data = pattern(wide, flags * 20 + rows++);
      std::copy(data.begin(), data.end(), at);
    });
    say("mapped", seen);
    CHECK(clEnqueueUnmapMemObject(g_queue, image.mem, base, 0, nullptr, nullptr));
    show_contents("unmapped", image, t, f);
  }
}

std::string source(const Type& t, char kind) {
  const char* const suffix = kind == 'f' ? "f" : kind == 'i' ? "i" : "ui";
  const char* const four = kind == 'f' ? "float4" : kind == 'i' ? "int4" : "uint4";
  const std::string position = "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
                               "  int n = x + get_global_size(0) * (y + get_global_size(1) * z);\n";
  const std::string read = std::string("read_image") + suffix;
  return std::string("kernel void look(read_only ") + t.kernel + " image, global " + four + "* out, sampler_t s) {\n" +
         position + "  out[n] = " + read + "(image, s, " + t.at + ");\n}\n" +
         "kernel void put(write_only " + t.kernel + " image) {\n" + position + "  write_image" + suffix + "(image, " +
         t.at + ", (" + four + ")(" + (kind == 'f' ? "n / 1024.0f" : "n % 100") + ", x, y, z));\n}\n";
}

void kernels(const Image& image, const Type& t, const Format& f) {
  const std::string text = source(t, f.kind);
  const char* lines = text.c_str();
  cl_int code = 0;
  cl_program program = clCreateProgramWithSource(g_context, 1, &lines, nullptr, &code);
  CHECK(code);
  code = clBuildProgram(program, 1, &g_device, "", nullptr, nullptr);
  say("build", code);
  if (code == CL_SUCCESS) {
    cl_kernel look = clCreateKernel(program, "look", &code), put = clCreateKernel(program, "put", &code);
    CHECK(code);
    cl_sampler sampler = clCreateSampler(g_context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
    CHECK(code);
    Bytes out(texels(t.whole) * 16);
    cl_mem buffer = clCreateBuffer(g_context, CL_MEM_READ_WRITE, out.size(), nullptr, &code);
    CHECK(code);
    CHECK(clSetKernelArg(put, 0, sizeof image.mem, &image.mem));
    CHECK(clSetKernelArg(look, 0, sizeof image.mem, &image.mem));
    CHECK(clSetKernelArg(look, 1, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(look, 2, sizeof sampler, &sampler));
    for (cl_kernel k : {look, put, look}) {
      CHECK(clEnqueueNDRangeKernel(g_queue, k, 3, nullptr, t.whole.data(), nullptr, 0, nullptr, nullptr));
      if (k == put) continue;
      CHECK(clEnqueueReadBuffer(g_queue, buffer, CL_TRUE, 0, out.size(), out.data(), 0, nullptr, nullptr));
      say("looked", out);
    }
    show_contents("put", image, t, f);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseSampler(sampler));
    CHECK(clReleaseKernel(look));
    CHECK(clReleaseKernel(put));
  }
  CHECK(clReleaseProgram(program));
}

void everything(const Type& t, const Format& f, bool with_kernels) {
  std::printf("%s, %s\n", t.name, f.name);
  Bytes host = pattern(texels(t.whole) * f.bytes, 1);
  const Image image(t, f, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &host);
  say("made", image.code);
  if (image.code != CL_SUCCESS) return;
  infos(image, f);
  show_contents("from memory", image, t, f);
  write_part(image, t, f);
  maps(image, t, f);
  if (t.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) return;  // PoCL 3.1 crashes on all that follows
  fill_part(image, t, f);
  copies(image, t, f);
  if (with_kernels) kernels(image, t, f);
}

}  // namespace

int main() {
  open_first_device(g_device, g_context, g_queue);
  for (const Type& t : Types) {
    cl_uint count = 0;
    CHECK(clGetSupportedImageFormats(g_context, CL_MEM_READ_WRITE, t.type, 0, nullptr, &count));
    std::printf("%s: %u formats\n", t.name, count);
    char built = 0;  // a program for each kind, not for each format
    for (const Format& f : Formats) {
      everything(t, f, f.kind != built);
      built = f.kind;
    }
  }
  CHECK(clReleaseCommandQueue(g_queue));
  CHECK(clReleaseContext(g_context));
  std::printf("end\n");
  return 0;
}
