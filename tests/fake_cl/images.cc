// The fake's images, and buffers of OpenGL: every texture is 32 x 16 elements of 8 bytes, every buffer has 4096 bytes.
#include <CL/cl_gl.h>

#include <algorithm>

#include "tests/fake_cl/driver.h"
#include "tests/fake_cl/held.h"

namespace gt::fake {
namespace {

constexpr size_t Width = 32, Height = 16, Element = 8, BufferBytes = 4096;

cl_mem shared(cl_context context, size_t bytes, cl_int* err) {
  if (err) *err = context ? CL_SUCCESS : CL_INVALID_CONTEXT;
  if (!context) return nullptr;
  auto* memory = new _cl_mem;
  memory->context = Ref<_cl_context>(context);
  memory->size = bytes;
  memory->own.resize(bytes, 7);
  memory->data = memory->own.data();
  return memory;
}

// A part of an image, row by row, and packed memory.
class Box {
 public:
  Box(cl_mem image, const size_t* origin, const size_t* region) : image_(image) {
    if (!image || !origin || !region || image->image.element == 0) return;
    const size_t most[] = {image->image.width, image->image.height, image->image.depth};
    for (int i = 0; i < 3; ++i) {
      if (origin[i] > most[i] || region[i] == 0 || region[i] > most[i] - origin[i]) return;
      origin_[i] = origin[i], region_[i] = region[i];
    }
    row_bytes_ = region[0] * image->image.element;
  }
  bool valid() const { return row_bytes_ > 0; }
  size_t bytes() const { return row_bytes_ * region_[1] * region_[2]; }
  void get(uint8_t* packed) const {
    each_row([&](uint8_t* row) { packed = std::copy_n(row, row_bytes_, packed); });
  }
  void put(const uint8_t* packed) const {
    each_row([&](uint8_t* row) { std::copy_n(packed, row_bytes_, row), packed += row_bytes_; });
  }

 private:
  template <class See>
  void each_row(See see) const {
    const auto& all = image_.get()->image;
    for (size_t z = origin_[2]; z < origin_[2] + region_[2]; ++z)
      for (size_t y = origin_[1]; y < origin_[1] + region_[1]; ++y)
        see(image_.get()->data + ((z * all.height + y) * all.width + origin_[0]) * all.element);
  }

  Ref<_cl_mem> image_;
  size_t origin_[3] = {}, region_[3] = {}, row_bytes_ = 0;
};

// What is wrong with a command that moves `box`, and with the packed memory at its other side.
cl_int check(const Command& command, const Box& box, bool good) {
  const cl_int error = check(command);
  return !error && !(box.valid() && good) ? CL_INVALID_VALUE : error;
}
bool is_packed(const Box& box, const size_t* region, size_t row, size_t slice) {
  return box.valid() && (row == 0 || row * region[1] * region[2] == box.bytes()) &&
         (slice == 0 || slice * region[2] == box.bytes());
}
bool has_room(cl_mem buffer, size_t offset, const Box& box) {
  return buffer && offset <= buffer->size && box.bytes() <= buffer->size - offset;
}

}  // namespace

cl_mem make_image(cl_mem buffer, size_t width, size_t height, size_t depth, size_t element) {
  if (buffer) buffer->image = {width, height, depth, element};
  return buffer;
}

cl_mem fake_clCreateFromGLTexture(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint, cl_int* err) {
  return make_image(shared(context, Width * Height * Element, err), Width, Height, 1, Element);
}

cl_mem fake_clCreateFromGLBuffer(cl_context context, cl_mem_flags, cl_GLuint, cl_int* err) {
  return shared(context, BufferBytes, err);
}

cl_int fake_clGetImageInfo(cl_mem image, cl_image_info name, size_t size, void* value, size_t* ret) {
  if (!image || image->image.element == 0) return CL_INVALID_MEM_OBJECT;
  if (ret) *ret = sizeof(size_t);
  if (value && size < sizeof(size_t)) return CL_INVALID_VALUE;
  const auto answer = [value](size_t number) {
    if (value) *static_cast<size_t*>(value) = number;
    return CL_SUCCESS;
  };
  const auto& all = image->image;
  switch (name) {
    case CL_IMAGE_ELEMENT_SIZE:
      return answer(all.element);
    case CL_IMAGE_WIDTH:
      return answer(all.width);
    case CL_IMAGE_HEIGHT:
      return answer(all.height);
    case CL_IMAGE_DEPTH:
      return answer(all.depth > 1 ? all.depth : 0);
    case CL_IMAGE_ARRAY_SIZE:
      return answer(0);
    default:
      return CL_INVALID_VALUE;
  }
}

// Only packed.
cl_int fake_clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                               const size_t* region, size_t row, size_t slice, void* to, cl_uint n,
                               const cl_event* waits, cl_event* event) {
  const Command command{queue, n, waits, CL_COMMAND_READ_IMAGE, 1, blocking != CL_FALSE, event};
  const Box box(image, origin, region);
  if (const cl_int error = check(command, box, to && is_packed(box, region, row, slice))) return error;
  return submit(command, [box, to] { box.get(static_cast<uint8_t*>(to)); });
}
cl_int fake_clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                                const size_t* region, size_t row, size_t slice, const void* from, cl_uint n,
                                const cl_event* waits, cl_event* event) {
  const Command command{queue, n, waits, CL_COMMAND_WRITE_IMAGE, 1, blocking != CL_FALSE, event};
  const Box box(image, origin, region);
  if (const cl_int error = check(command, box, from && is_packed(box, region, row, slice))) return error;
  return submit(command, [box, from] { box.put(static_cast<const uint8_t*>(from)); });
}
cl_int fake_clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t* origin,
                                       const size_t* region, size_t offset, cl_uint n, const cl_event* waits,
                                       cl_event* event) {
  const Command command{queue, n, waits, CL_COMMAND_COPY_IMAGE_TO_BUFFER, 1, false, event};
  const Box box(image, origin, region);
  if (const cl_int error = check(command, box, has_room(buffer, offset, box))) return error;
  return submit(command, [box, to = Ref(buffer), offset] { box.get(to.get()->data + offset); });
}
cl_int fake_clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
                                       const size_t* origin, const size_t* region, cl_uint n, const cl_event* waits,
                                       cl_event* event) {
  const Command command{queue, n, waits, CL_COMMAND_COPY_BUFFER_TO_IMAGE, 1, false, event};
  const Box box(image, origin, region);
  if (const cl_int error = check(command, box, has_room(buffer, offset, box))) return error;
  return submit(command, [box, from = Ref(buffer), offset] { box.put(from.get()->data + offset); });
}

}  // namespace gt::fake
