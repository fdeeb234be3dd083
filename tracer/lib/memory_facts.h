// How large a memory object is whose creating call does not say so: one made of another API's (OpenGL, EGL).
//
// The driver is asked when it has made it, once; a MemoryFacts record tells the collector, within the call.
// Thread safety: any thread. Cost: some queries for each such object.
#pragma once

#include <CL/cl.h>

#include "tracer/lib/recorder.h"
#include "traces/api/table.h"

namespace gt::tracer {

template <api::FnId F>
constexpr bool says_no_size() {
  constexpr api::Attributes a = api::Fn<F>::attributes;
  const bool memory = a.creates == api::ObjectKind::Buffer || a.creates == api::ObjectKind::Image;
  return memory && a.size < 0 && a.format < 0 && a.part < 0;
}

// REQUIRES: `memory` was just made by the driver.
void record_memory_facts(uint16_t fn, cl_mem memory, bool image);

}  // namespace gt::tracer
