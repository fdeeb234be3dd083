// Buffers that have an address on the device: cl_ext_buffer_device_address, in contexts of one driver that has it.
// Headers of OpenCL 3.0 lack its names.
// Thread safety: any thread.
#pragma once

#include <algorithm>

#include "optimizer-rt/client/objects/context.h"

namespace gt::virt {

constexpr cl_mem_properties PrivateAddressProperty = 0x5000;  // CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT
constexpr cl_mem_info AddressInfo = 0x5001;                   // CL_MEM_DEVICE_ADDRESS_EXT
constexpr cl_kernel_exec_info ReachedAddresses = 0x5002;      // CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT

inline bool has_addresses(const _cl_context& context) {
  return context.one_sub_context() && std::ranges::all_of(context.devices, [](const auto& device) {
           return device->has_extension("cl_ext_buffer_device_address");
         });
}

}  // namespace gt::virt
