#include "transport/executor/calls/info_filter.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>


namespace gt::exec {
namespace {

// Extensions that only concern kernels, or what queries tell. A name that ends with * is a beginning.
constexpr std::string_view Harmless[] = {
    "cl_khr_byte_addressable_store", "cl_khr_global_int32_*", "cl_khr_local_int32_*", "cl_khr_int64_*", "cl_khr_fp64",
    "cl_khr_fp16", "cl_khr_3d_image_writes", "cl_khr_image2d_from_buffer", "cl_khr_depth_images",
    "cl_khr_mipmap_image*", "cl_khr_subgroup*", "cl_khr_spir*", "cl_khr_extended_bit_ops", "cl_khr_integer_dot_product",
    "cl_khr_work_group_uniform_arithmetic", "cl_khr_expect_assume", "cl_khr_select_fprounding_mode",
    "cl_khr_extended_versioning", "cl_khr_priority_hints", "cl_khr_throttle_hints", "cl_khr_srgb_image_writes",
    "cl_khr_kernel_clock", "cl_khr_create_command_queue", "cl_khr_device_uuid", "cl_khr_il_program",
    "cl_khr_suggested_local_work_size", "cl_khr_device_enqueue_local_arg_types", "cl_khr_icd", "cl_nv_compiler_options",
    "cl_nv_device_attribute_query", "cl_nv_pragma_unroll", "cl_nv_copy_opts", "cl_nv_kernel_attribute",
    "cl_intel_subgroup*", "cl_intel_required_subgroup_size", "cl_intel_spirv_*", "cl_intel_split_work_group_barrier",
    "cl_intel_device_attribute_query", "cl_intel_unified_shared_memory",
    "cl_amd_device_attribute_query", "cl_amd_media_ops*", "cl_amd_fp64",
    "cl_amd_printf", "cl_amd_popcnt", "cl_amd_vec3", "cl_amd_assembly_program", "cl_arm_integer_dot_product_*",
    "cl_arm_core_id", "cl_ext_float_atomics", "cl_ext_cxx_for_opencl", "cles_khr_int64",
    // With functions that travel.
    "cl_khr_command_buffer", "cl_khr_command_buffer_mutable_dispatch", "cl_khr_semaphore",
    "cl_ext_buffer_device_address"};

bool is_harmless(std::string_view name) {
  return std::any_of(std::begin(Harmless), std::end(Harmless), [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

void filter_names(Bytes& value) {
  const std::string all(value.begin(), std::find(value.begin(), value.end(), uint8_t{0}));
  std::string kept;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(' ', at), all.size());
    const std::string_view name = std::string_view(all).substr(at, end - at);
    if (is_harmless(name)) kept.append(kept.empty() ? "" : " ").append(name);
    at = end + 1;
  }
  value.assign(kept.begin(), kept.end());
  value.push_back(0);
}

void filter_versions(Bytes& value) {
  Bytes kept;
  for (size_t at = 0; at + sizeof(cl_name_version) <= value.size(); at += sizeof(cl_name_version)) {
    cl_name_version one{};
    std::memcpy(&one, value.data() + at, sizeof one);
    const std::string_view name(one.name, ::strnlen(one.name, sizeof one.name));
    if (is_harmless(name)) kept.insert(kept.end(), value.data() + at, value.data() + at + sizeof one);
  }
  value = std::move(kept);
}

template <class T>
void change(Bytes& value, T (*to)(T, uint64_t), uint64_t with) {
  T v{};
  if (value.size() != sizeof v) return;
  std::memcpy(&v, value.data(), sizeof v);
  v = to(v, with);
  std::memcpy(value.data(), &v, sizeof v);
}

void at_most(Bytes& value, uint64_t most) {
  if (most) change<cl_ulong>(value, [](cl_ulong v, uint64_t m) { return std::min<cl_ulong>(v, m); }, most);
}
void without(Bytes& value, uint64_t bits) {
  change<cl_bitfield>(value, [](cl_bitfield v, uint64_t b) { return v & ~b; }, bits);
}

// What belongs to extensions that are hidden, or to this machine.
struct Range {
  cl_uint first, last;
};
constexpr Range Hidden[] = {
    {0x1077, 0x1077},  // cl_khr_unified_svm
    {0x12AB, 0x12AC},  // command buffers of several devices
    {0x2031, 0x2031},  // cl_khr_terminate_context
    {0x204D, 0x204F}, {0x2052, 0x2052},  // external memory and semaphores
    {0x4008, 0x400A},  // NVIDIA: bus, slot and domain, as of cl_khr_pci_bus_info below
    {0x4036, 0x4036},  // AMD: how far the device's clock is from the host's, and...
    {0x4037, 0x4037},  // ...its place on the bus, and...
    {0x4039, 0x4039},  // ...the memory that is free at the moment
    {0x4054, 0x4058},  // cl_ext_device_fission
    {0x40B6, 0x40B7},  // ARM's shared memory
    {0x4104, 0x4105},  // Intel's sharing with graphics
    {0x410F, 0x410F},  // cl_khr_pci_bus_info: a place on another machine's bus
};
constexpr Range HiddenOfPlatforms[] = {
    {0x0908, 0x0909},  // command buffers, cl_khr_unified_svm
    {0x0921, 0x0921},  // may the driver be unloaded? Not ours
    {0x2037, 0x2038}, {0x2044, 0x2044},  // semaphores, external memory
};

}  // namespace

bool filter_device_info(cl_device_info name, const Limits& limits, Bytes& value) {
  switch (name) {
    case CL_DEVICE_PLATFORM:  // handles and counts: the client knows its own
    case CL_DEVICE_PARENT_DEVICE:
    case CL_DEVICE_REFERENCE_COUNT: return false;
    case CL_DEVICE_SVM_CAPABILITIES:  // a client keeps pages in step between commands, not while they run
      without(value, ~cl_bitfield{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER});
      break;
    case CL_DEVICE_HOST_UNIFIED_MEMORY: std::fill(value.begin(), value.end(), uint8_t{0}); break;
    case CL_DEVICE_EXECUTION_CAPABILITIES: without(value, CL_EXEC_NATIVE_KERNEL); break;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: at_most(value, limits.memory_bytes); break;
    case CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR:
      without(value, CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR);
      break;
    case CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR: without(value, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR); break;
    case CL_DEVICE_LUID_VALID_KHR:  // a LUID is known on its own machine alone
    case CL_DEVICE_LUID_KHR:
    case CL_DEVICE_NODE_MASK_KHR: std::fill(value.begin(), value.end(), uint8_t{0}); break;
    case CL_DEVICE_EXTENSIONS: filter_names(value); break;
    case CL_DEVICE_EXTENSIONS_WITH_VERSION: filter_versions(value); break;
    default: break;
  }
  return std::none_of(std::begin(Hidden), std::end(Hidden),
                      [name](const Range& r) { return name >= r.first && name <= r.last; });
}

bool filter_platform_info(cl_platform_info name, Bytes& value) {
  if (name == CL_PLATFORM_EXTENSIONS) filter_names(value);
  if (name == CL_PLATFORM_EXTENSIONS_WITH_VERSION) filter_versions(value);
  return std::none_of(std::begin(HiddenOfPlatforms), std::end(HiddenOfPlatforms),
                      [name](const Range& r) { return name >= r.first && name <= r.last; });
}

}  // namespace gt::exec
