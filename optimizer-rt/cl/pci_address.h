// Where a device is on the PCI bus.
#pragma once

#include <CL/cl.h>

#include "optimizer-rt/pool/numa.h"

namespace gt::opt {

using DeviceInfoFunction = cl_int(CL_API_CALL*)(cl_device_id, cl_device_info, size_t, void*, size_t*);

// By the Khronos extension, or NVIDIA's or AMD's own queries. False: the driver does not tell. Thread safety: yes.
bool pci_address(DeviceInfoFunction info, cl_device_id device, PciAddress* at) noexcept;

}  // namespace gt::opt
