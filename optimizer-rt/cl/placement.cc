// From contexts to nodes.
#include "optimizer-rt/cl/placement.h"

#include "optimizer-rt/cl/pci_address.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/pool/runtime.h"

namespace gt::opt {

void place_pools_near(cl_context context) noexcept {
  static const bool several = has_several_nodes("");
  const DeviceInfoFunction info = GT_REAL(clGetDeviceInfo);
  if (!several || !info || !runtime.serves()) return;
  const Devices devices = devices_of(context);
  for (size_t i = 0; i < devices.count; ++i) {
    PciAddress at;
    if (pci_address(info, devices.list[i], &at)) runtime.prefer_node(node_of_pci("", at));
  }
}

}  // namespace gt::opt
