// Which of OpenCL's memory is mapped, so that what the program wrote there can be looked at when it unmaps it.
//
// A table of fixed size. What finds no place there is unknown later, and so is what was mapped before the recording.
// Thread safety: any thread; no lock, no allocation. Cost: some tens of comparisons for a map or unmap.
#pragma once

#include "traces/api/host_box.h"

namespace gt::tracer {

struct Mapping {
  api::HostBox box;      // behind its address
  bool written = false;  // it was mapped for writing
};

void note_mapping(const void* p, const Mapping& mapping) noexcept;
// The mapping at this address, which is unknown from now on; of several any. False: there is none.
bool take_mapping(const void* p, Mapping& mapping) noexcept;

}  // namespace gt::tracer
