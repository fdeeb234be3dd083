// The fake's images and buffers of OpenGL: every texture is 32 x 16 elements of 8 bytes, every buffer has 4096 bytes.
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

}  // namespace

cl_mem fake_clCreateFromGLTexture(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint, cl_int* err) {
  return shared(context, Width * Height * Element, err);
}

cl_mem fake_clCreateFromGLBuffer(cl_context context, cl_mem_flags, cl_GLuint, cl_int* err) {
  return shared(context, BufferBytes, err);
}

cl_int fake_clGetImageInfo(cl_mem image, cl_image_info name, size_t size, void* value, size_t* ret) {
  if (!image) return CL_INVALID_MEM_OBJECT;
  if (ret) *ret = sizeof(size_t);
  if (value && size < sizeof(size_t)) return CL_INVALID_VALUE;
  const auto answer = [value](size_t number) {
    if (value) *static_cast<size_t*>(value) = number;
    return CL_SUCCESS;
  };
  switch (name) {
    case CL_IMAGE_ELEMENT_SIZE:
      return answer(Element);
    case CL_IMAGE_WIDTH:
      return answer(Width);
    case CL_IMAGE_HEIGHT:
      return answer(Height);
    case CL_IMAGE_DEPTH:
    case CL_IMAGE_ARRAY_SIZE:
      return answer(0);
    default:
      return CL_INVALID_VALUE;
  }
}

// Only from the first element on, and densely packed.
cl_int fake_clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                               const size_t* region, size_t row, size_t, void* to, cl_uint n, const cl_event* waits,
                               cl_event* event) {
  const Command command{queue, n, waits, CL_COMMAND_READ_IMAGE, 1, blocking != CL_FALSE, event};
  if (const cl_int error = check(command)) return error;
  if (!image || !origin || !region || !to || row != 0) return CL_INVALID_VALUE;
  const size_t bytes = region[0] * region[1] * region[2] * Element;
  if (bytes > image->size) return CL_INVALID_VALUE;
  return submit(command,
                [from = Ref(image), to, bytes] { std::copy_n(from.get()->data, bytes, static_cast<uint8_t*>(to)); });
}

}  // namespace gt::fake
