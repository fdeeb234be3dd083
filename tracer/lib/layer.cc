// The entry path that the OpenCL loader itself opens: OPENCL_LAYERS (cl_loader_layers).
//
// A loader that the program reached around us (bundled under another name, statically linked, in another link-map
// namespace) loads this library as a layer, gives us the table of what lies below, and calls our wrappers from then
// on. They are the exported ones: what they call as the real functions is the loader's table from here on.
// Invariant: no call is recorded twice. The loader that our own wrappers call into asks while such a call is under way
// (t_flags.inside): it is refused, and goes on without us and without the cost of a layer. A driver's own loader is
// refused for the same reason.
// ABI: cl_layer.h of API version 100. ocl-icd and Khronos loaders until 2026 call clInitLayer, later ones
// clInitLayerWithProperties; both copy the table that we return.
#include "tracer/lib/layer.h"

#include <CL/cl_layer.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tracer/lib/real_calls.h"
#include "traces/base/reentry.h"

#define GT_LAYER_EXPORT extern "C" __attribute__((visibility("default")))

namespace gt::tracer {

namespace {

constexpr cl_uint MaxEntries = 512;  // the table has some 150; entries beyond are the loader's to pass on
void* g_table[MaxEntries];

cl_int answer(const void* value, size_t bytes, size_t room, void* out, size_t* bytes_ret) {
  if (out && room < bytes) return CL_INVALID_VALUE;
  if (out) std::memcpy(out, value, bytes);
  if (bytes_ret) *bytes_ret = bytes;
  return CL_SUCCESS;
}

// Functions that we do not know, or that the loader does not have, stay what they are.
void fill_table(std::span<void* const> target) {
  std::copy(target.begin(), target.end(), g_table);
  for (const LayerSlot& slot : layer_slots()) {
    if (slot.index < target.size() && target[slot.index]) g_table[slot.index] = slot.wrapper;
  }
}

// With two loaders in a process the first one's functions serve both: they dispatch by the handle.
void adopt(std::span<void* const> target) {
  if (layered()) return;
  for (const LayerSlot& slot : layer_slots()) {
    if (slot.index < target.size() && target[slot.index]) set_real(slot.fn, target[slot.index]);
  }
  set_layered(true);
}

cl_int init(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret, const cl_icd_dispatch** table_ret) {
  if (!target || !entries_ret || !table_ret) return CL_INVALID_VALUE;
  if (t_flags.inside != 0) return CL_INVALID_OPERATION;
  const std::span<void* const> below(reinterpret_cast<void* const*>(target), std::min(entries, MaxEntries));
  fill_table(below);
  adopt(below);
  *entries_ret = static_cast<cl_uint>(below.size());
  *table_ret = reinterpret_cast<const cl_icd_dispatch*>(g_table);
  return CL_SUCCESS;
}

}  // namespace

}  // namespace gt::tracer

GT_LAYER_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t room, void* out, size_t* bytes_ret) {
  static constexpr cl_layer_api_version Version = CL_LAYER_API_VERSION_100;
  static constexpr char Name[] = "gtrace";
  if (name == CL_LAYER_API_VERSION) return gt::tracer::answer(&Version, sizeof Version, room, out, bytes_ret);
  if (name == CL_LAYER_NAME) return gt::tracer::answer(Name, sizeof Name, room, out, bytes_ret);
  return CL_INVALID_VALUE;
}

GT_LAYER_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                                               const cl_icd_dispatch** table_ret) {
  return gt::tracer::init(entries, target, entries_ret, table_ret);
}

GT_LAYER_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch* target,
                                                             cl_uint* entries_ret, const cl_icd_dispatch** table_ret,
                                                             const cl_ulong*) {
  return gt::tracer::init(entries, target, entries_ret, table_ret);
}

// The loader goes away: whoever calls us after this is served by the real library, as if there had been no layer.
GT_LAYER_EXPORT cl_int CL_API_CALL clDeinitLayer() {
  for (const gt::tracer::LayerSlot& slot : gt::tracer::layer_slots()) {
    if (slot.index != gt::tracer::LayerSlot::None) gt::tracer::set_real(slot.fn, nullptr);
  }
  gt::tracer::set_layered(false);
  return CL_SUCCESS;
}
