// Devices of drivers in this process, in contexts of ours: programs know them by the drivers' own handles, which stay
// as they are. Behind each is an executor of its own in this process, made when it is first put into such a context; it
// lives as long as the process, and keeps a part of a device alive.
// Thread safety: any thread. adopt() of a device that is new makes its executor with the lock held, in milliseconds;
// everybody else here waits.
#pragma once

#include "optimizer-rt/client/platform/device.h"

namespace gt::virt {

// The device of a handle that the program gave for a new context: ours, or a driver's. Throws CL_INVALID_DEVICE,
// CL_DEVICE_NOT_AVAILABLE.
_cl_device_id& adopt(cl_device_id handle);
// The device of a handle; nullptr: neither ours nor adopted.
_cl_device_id* find_device(cl_device_id handle);
_cl_device_id& device_of(cl_device_id handle);  // throws CL_INVALID_DEVICE
// Is this a platform of ours, or of an adopted device?
bool is_platform(cl_platform_id handle);

}  // namespace gt::virt
