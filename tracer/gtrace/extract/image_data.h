// An image of a launch: what it is, and what it holds.
// Thread safety: as the queue that is given.
#pragma once

#include <CL/cl.h>

#include "tracer/gtrace/extract/standalone.h"
#include "tracer/gtrace/replay/opencl_library.h"

namespace gt::tracer {

// Unsupported: an image over a buffer, with mip levels or with samples.
Result<ExtractedImage> describe_image(const OpenClLibrary& cl, cl_mem image);
// All of it, without gaps between rows.
Status read_image(const OpenClLibrary& cl, cl_command_queue queue, cl_mem image, const ExtractedImage& what,
                  Bytes& out);
// What its channels hold.
ElementType channel_element(const ExtractedImage& image);

}  // namespace gt::tracer
