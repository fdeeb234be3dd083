#include "tracer/lib/memory_facts.h"

#include <algorithm>

#include "tracer/lib/real_calls.h"

namespace gt::tracer {

namespace {

using api::FnId;

// 0 when the driver does not say.
size_t image_info(cl_mem image, cl_image_info name) {
  auto get = real<decltype(clGetImageInfo)>(FnId::clGetImageInfo);
  size_t value = 0;
  return get && get(image, name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
}

// Without the padding of its rows. Sides that the image does not have are 0 and count as 1.
size_t image_bytes(cl_mem image, size_t element) {
  size_t bytes = element * image_info(image, CL_IMAGE_WIDTH);
  for (const cl_image_info side : {CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE})
    bytes *= std::max<size_t>(image_info(image, side), 1);
  return bytes;
}

size_t buffer_bytes(cl_mem buffer) {
  auto get = real<decltype(clGetMemObjectInfo)>(FnId::clGetMemObjectInfo);
  size_t value = 0;
  return get && get(buffer, CL_MEM_SIZE, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
}

}  // namespace

void record_memory_facts(uint16_t fn, cl_mem memory, bool image) {
  const size_t element = image ? image_info(memory, CL_IMAGE_ELEMENT_SIZE) : 0;
  const size_t bytes = image ? image_bytes(memory, element) : buffer_bytes(memory);
  if (bytes != 0) record(RecordType::MemoryFacts, fn, ticks(), bytes, element);
}

}  // namespace gt::tracer
