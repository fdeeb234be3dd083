// What an image's description means: its region, its pitches, its bytes.
// Thread safety: functions of their arguments.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>

namespace gt::virt {

// Elements, rows, slices (or layers) as clEnqueueReadImage counts them.
std::array<uint64_t, 3> image_region(const cl_image_desc& desc);
// How many of the three coordinates count elements, rows and slices.
cl_uint image_dimensions(cl_mem_object_type type);

}  // namespace gt::virt
