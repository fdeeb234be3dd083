// What each transfer function moves: every one of them against an answer made by hand.
#include "traces/api/transfer_size.h"

#include <CL/cl.h>
#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace gt::api;  // NOLINT

namespace {

// The world before the call. Handle 1: a buffer of 1000 bytes; 2: an image whose elements have 16 bytes, 512 in all;
// 3: an image of nobody knows what; 4: the same as 2, an array of lines. SVM at 0x10000 (4096 bytes),
// USM on the host at 0x20000 (4096 bytes). Mapped at 0x30000: 300 bytes to read; at 0x31000: 310 to write; at 0x32000:
// 320 to overwrite.
struct World : KnownObjects {
  MemoryFacts memory_object(uint64_t handle) const override {
    if (handle == 1) return {1000};
    if (handle == 4) return {512, 16, false, true};
    return handle == 2 ? MemoryFacts{512, 16} : MemoryFacts{};
  }
  MemoryFacts allocation(uint64_t address) const override {
    if (address >= 0x10000 && address < 0x11000) return {4096};
    return address >= 0x20000 && address < 0x21000 ? MemoryFacts{4096, 0, true} : MemoryFacts{};
  }
  Mapped mapping(uint64_t address) const override {
    if (address == 0x30000) return {300, CL_MAP_READ};
    if (address == 0x31000) return {310, CL_MAP_WRITE};
    return address == 0x32000 ? Mapped{320, CL_MAP_WRITE_INVALIDATE_REGION} : Mapped{};
  }
};

struct Given {
  std::string param;
  std::vector<uint64_t> values;
};

// Decoded inputs, in the order of the parameters; those that are not given are 0.
std::vector<DecodedArg> inputs(uint16_t fn, const std::vector<Given>& given) {
  std::vector<DecodedArg> out;
  for (uint16_t p = 0; p < param_count(fn); ++p) {
    const ParamInfo& info = param_info(fn, p);
    const bool handle = info.in == Wire::Handle || info.in == Wire::Handles;
    const bool pointer = info.in == Wire::Pointer || info.in == Wire::Pointers || info.in == Wire::HostData;
    for (const Given& g : given) {
      if (g.param != info.name) continue;
      for (const uint64_t value : g.values) {
        DecodedArg& arg = out.emplace_back();
        arg.param = p;
        arg.tag = handle ? Tag::Handle : pointer ? Tag::HostPointer : Tag::Int;
        arg.kind = info.kind;
        arg.effect = info.effect;
        arg.value = value;
      }
    }
  }
  return out;
}

constexpr auto H2D = Transfer::HostToDevice, D2H = Transfer::DeviceToHost, D2D = Transfer::DeviceToDevice,
               Nothing = Transfer::None;
struct Answer {
  const char* function;
  std::vector<Given> given;
  Transfer direction;
  uint64_t bytes;
};
const std::vector<uint64_t> Box = {10, 3, 2};              // 60 bytes, or elements
const std::vector<uint64_t> Format = {CL_RGBA, CL_FLOAT};  // 16 bytes
std::vector<uint64_t> desc(uint64_t type, uint64_t w, uint64_t h = 0, uint64_t d = 0, uint64_t layers = 0) {
  return {type, w, h, d, layers, 9999, 9999, 0, 0, 0};
}

const Answer Answers[] = {
    {"clEnqueueReadBuffer", {{"size", {77}}}, D2H, 77},
    {"clEnqueueWriteBuffer", {{"size", {77}}}, H2D, 77},
    {"clEnqueueCopyBuffer", {{"size", {77}}}, D2D, 77},
    {"clEnqueueFillBuffer", {{"pattern_size", {4}}, {"size", {80}}}, D2D, 80},
    {"clEnqueueReadBufferRect", {{"region", Box}, {"host_row_pitch", {4096}}}, D2H, 60},
    {"clEnqueueWriteBufferRect", {{"region", Box}}, H2D, 60},
    {"clEnqueueCopyBufferRect", {{"region", Box}}, D2D, 60},
    {"clEnqueueReadBufferRect", {}, D2H, 0},
    {"clEnqueueWriteBufferRect", {{"region", {~0ull, 2, 1}}}, H2D, 0},  // too large for 64 bits
    {"clEnqueueReadImage", {{"image", {2}}, {"region", Box}, {"row_pitch", {4096}}}, D2H, 960},
    {"clEnqueueWriteImage", {{"image", {2}}, {"region", Box}}, H2D, 960},
    {"clEnqueueWriteImage", {{"image", {3}}, {"region", Box}}, H2D, 0},
    {"clEnqueueFillImage", {{"image", {2}}, {"region", Box}}, D2D, 960},
    {"clEnqueueCopyImage", {{"src_image", {2}}, {"dst_image", {3}}, {"region", Box}}, D2D, 960},
    {"clEnqueueCopyImageToBuffer", {{"src_image", {2}}, {"region", Box}}, D2D, 960},
    {"clEnqueueCopyBufferToImage", {{"dst_image", {2}}, {"region", Box}}, D2D, 960},
    {"clEnqueueMapBuffer", {{"map_flags", {CL_MAP_READ}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueMapBuffer", {{"map_flags", {CL_MAP_WRITE}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueMapBuffer", {{"map_flags", {CL_MAP_WRITE_INVALIDATE_REGION}}, {"size", {77}}}, Nothing, 0},
    {"clEnqueueMapImage", {{"image", {2}}, {"map_flags", {CL_MAP_READ}}, {"region", Box}}, D2H, 960},
    {"clEnqueueMapImage",
     {{"image", {2}}, {"map_flags", {CL_MAP_WRITE_INVALIDATE_REGION}}, {"region", Box}},
     Nothing,
     0},
    {"clEnqueueUnmapMemObject", {{"mapped_ptr", {0x30000}}}, Nothing, 0},
    {"clEnqueueUnmapMemObject", {{"mapped_ptr", {0x31000}}}, H2D, 310},
    {"clEnqueueUnmapMemObject", {{"mapped_ptr", {0x32000}}}, H2D, 320},
    {"clEnqueueUnmapMemObject", {{"mapped_ptr", {0x39000}}}, Nothing, 0},
    {"clEnqueueMigrateMemObjects", {{"mem_objects", {1, 2}}, {"flags", {0}}}, H2D, 1512},
    {"clEnqueueMigrateMemObjects", {{"mem_objects", {1}}, {"flags", {CL_MIGRATE_MEM_OBJECT_HOST}}}, D2H, 1000},
    {"clEnqueueMigrateMemObjects",
     {{"mem_objects", {1}}, {"flags", {CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED}}},
     Nothing,
     0},
    {"clEnqueueMigrateMemObjectEXT", {{"mem_objects", {1}}, {"flags", {1}}}, D2H, 1000},
    {"clEnqueueSVMMigrateMem", {{"svm_pointers", {0x10000, 0x10800}}, {"sizes", {100, 0}}, {"flags", {0}}}, H2D, 4196},
    {"clEnqueueSVMMigrateMem", {{"svm_pointers", {0x10000}}, {"flags", {CL_MIGRATE_MEM_OBJECT_HOST}}}, D2H, 4096},
    {"clEnqueueMigrateMemINTEL", {{"size", {77}}, {"flags", {0}}}, H2D, 77},
    {"clEnqueueSVMMemcpy", {{"dst_ptr", {0x10000}}, {"src_ptr", {0x10800}}, {"size", {77}}}, D2D, 77},
    {"clEnqueueSVMMemcpy", {{"dst_ptr", {0x10010}}, {"src_ptr", {0x5000}}, {"size", {77}}}, H2D, 77},
    {"clEnqueueSVMMemcpy", {{"dst_ptr", {0x5000}}, {"src_ptr", {0x10010}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueSVMMemcpyARM", {{"dst_ptr", {0x5000}}, {"src_ptr", {0x10010}}, {"size", {77}}}, D2H, 77},
    {"clCommandSVMMemcpyKHR", {{"dst_ptr", {0x5000}}, {"src_ptr", {0x10010}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueMemcpyINTEL", {{"dst_ptr", {0x10000}}, {"src_ptr", {0x20010}}, {"size", {77}}}, H2D, 77},
    {"clEnqueueMemcpyINTEL", {{"dst_ptr", {0x20000}}, {"src_ptr", {0x10000}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueSVMMemFill", {{"size", {80}}}, D2D, 80},
    {"clEnqueueSVMMemFillARM", {{"size", {80}}}, D2D, 80},
    {"clEnqueueMemFillINTEL", {{"size", {80}}}, D2D, 80},
    {"clEnqueueMemsetINTEL", {{"size", {80}}}, D2D, 80},
    {"clEnqueueSVMMap", {{"flags", {CL_MAP_READ}}, {"svm_ptr", {0x10000}}, {"size", {77}}}, D2H, 77},
    {"clEnqueueSVMMapARM", {{"flags", {CL_MAP_WRITE_INVALIDATE_REGION}}, {"size", {77}}}, Nothing, 0},
    {"clEnqueueSVMUnmap", {{"svm_ptr", {0x31000}}}, H2D, 310},
    {"clEnqueueSVMUnmapARM", {{"svm_ptr", {0x30000}}}, Nothing, 0},
    {"clCreateBuffer", {{"flags", {CL_MEM_COPY_HOST_PTR}}, {"size", {77}}}, H2D, 77},
    {"clCreateBuffer", {{"flags", {CL_MEM_USE_HOST_PTR}}, {"size", {77}}}, Nothing, 0},
    {"clCreateBufferWithProperties",
     {{"flags", {CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR}}, {"size", {77}}},
     H2D,
     77},
    {"clCreateBufferWithPropertiesINTEL", {{"flags", {CL_MEM_COPY_HOST_PTR}}, {"size", {77}}}, H2D, 77},
    {"clCreateImage",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_desc", desc(CL_MEM_OBJECT_IMAGE2D, 8, 4, 99, 99)}},
     H2D,
     512},
    {"clCreateImage",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_desc", desc(CL_MEM_OBJECT_IMAGE2D_ARRAY, 8, 4, 99, 3)}},
     H2D,
     1536},
    {"clCreateImage",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_desc", desc(CL_MEM_OBJECT_IMAGE1D_ARRAY, 8, 99, 99, 3)}},
     H2D,
     384},
    {"clCreateImageWithProperties",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_desc", desc(CL_MEM_OBJECT_IMAGE3D, 8, 4, 2)}},
     H2D,
     1024},
    {"clCreateImage2D",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_width", {8}},
      {"image_height", {4}},
      {"image_row_pitch", {4096}}},
     H2D,
     512},
    {"clCreateImage3D",
     {{"flags", {CL_MEM_COPY_HOST_PTR}},
      {"image_format", Format},
      {"image_width", {8}},
      {"image_height", {4}},
      {"image_depth", {2}}},
     H2D,
     1024},
    {"clCommandCopyBufferKHR", {{"size", {77}}}, D2D, 77},
    {"clCommandCopyBufferRectKHR", {{"region", Box}}, D2D, 60},
    {"clCommandCopyImageKHR", {{"src_image", {2}}, {"region", Box}}, D2D, 960},
    {"clCommandCopyImageToBufferKHR", {{"src_image", {2}}, {"region", Box}}, D2D, 960},
    {"clCommandCopyBufferToImageKHR", {{"dst_image", {2}}, {"region", Box}}, D2D, 960},
    {"clCommandFillBufferKHR", {{"size", {80}}}, D2D, 80},
    {"clCommandFillImageKHR", {{"image", {2}}, {"region", Box}}, D2D, 960},
    {"clCommandSVMMemFillKHR", {{"size", {80}}}, D2D, 80},
    {"clEnqueueReadHostPipeINTEL", {{"size", {77}}}, D2H, 77},
    {"clEnqueueWriteHostPipeINTEL", {{"size", {77}}}, H2D, 77},
};

}  // namespace

TEST_CASE("each transfer function moves what it should") {
  const World world;
  std::set<uint16_t> asked;
  for (const Answer& a : Answers) {
    const uint16_t fn = find_function(a.function);
    INFO(a.function << " expecting " << a.bytes);
    REQUIRE(fn != 0);
    asked.insert(fn);
    const TransferSize size = transfer_size_of(fn, inputs(fn, a.given), world);
    CHECK(size.direction == a.direction);
    CHECK(size.bytes == a.bytes);
  }
  for (uint16_t fn = 1; fn < fn_count(); ++fn) {
    INFO("no answer for " << function_name(fn));
    CHECK((attributes(fn).transfer != Transfer::None) == (asked.count(fn) == 1));
  }
}

TEST_CASE("what moves nothing") {
  const uint16_t launch = find_function("clEnqueueNDRangeKernel");
  CHECK(transfer_size_of(launch, {}, World()).direction == Nothing);
  CHECK(transfer_size_of(0, {}, World()).direction == Nothing);
  CHECK(transfer_size_of(60000, {}, World()).direction == Nothing);
}

TEST_CASE("what a create call makes, and what lies under it") {
  const uint16_t sub = find_function("clCreateSubBuffer"), image = find_function("clCreateImage"),
                 buffer = find_function("clCreateBuffer");
  const CreatedMemory part = created_memory(sub, inputs(sub, {{"buffer", {1}}, {"buffer_create_info", {64, 100}}}));
  CHECK(part.facts.bytes == 100);
  CHECK(part.parent == 1);
  const CreatedMemory in_place = created_memory(
      buffer, inputs(buffer, {{"flags", {CL_MEM_USE_HOST_PTR}}, {"size", {77}}, {"host_ptr", {0x5000}}}));
  CHECK(in_place.in_place == 0x5000);
  CHECK(in_place.parent == 0);
  auto of_buffer = inputs(image, {{"image_format", Format}, {"image_desc", desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, 8)}});
  of_buffer.back().tag = Tag::Handle;
  of_buffer.back().value = 1;
  CHECK(created_memory(image, of_buffer).parent == 1);
  CHECK(created_memory(image, of_buffer).facts.element_bytes == 16);
}

TEST_CASE("a mapped image extends over its pitches") {
  const uint16_t map = find_function("clEnqueueMapImage");
  const auto in = inputs(map, {{"image", {2}}, {"map_flags", {CL_MAP_READ}}, {"region", Box}});
  const auto out = inputs(map, {});
  std::vector<DecodedArg> pitches(2);
  for (size_t i = 0; i < 2; ++i) {
    pitches[i].param = static_cast<uint16_t>(attributes(map).pitches + static_cast<int>(i));
    pitches[i].tag = Tag::Int;
    pitches[i].value = i ? 4096 : 256;
  }
  const NewMapping made = new_mapping(map, in, pitches, World());
  CHECK(made.mapped.bytes == 960);
  CHECK(made.extent == 4096 + 2 * 256 + 160);

  const auto lines = inputs(map, {{"image", {4}}, {"map_flags", {CL_MAP_READ}}, {"region", {10, 3, 1}}});
  CHECK(new_mapping(map, lines, pitches, World()).extent == 2 * 4096 + 160);
}
