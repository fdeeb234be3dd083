// Where our wrappers stand in the dispatch table that an ICD loader and its layers exchange.
#pragma once

#include <cstddef>
#include <span>

#include "traces/api/table.h"

namespace gt::tracer {

struct LayerSlot {
  static constexpr size_t None = static_cast<size_t>(-1);

  api::FnId fn;
  size_t index;   // into cl_icd_dispatch taken as an array of pointers; None: not in it
  void* wrapper;  // what the program is to call
};

// One for each OpenCL function (exports.cc); constant, for as long as the process lives.
std::span<const LayerSlot> layer_slots();

}  // namespace gt::tracer
