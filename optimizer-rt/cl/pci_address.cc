// Asking the driver, in three languages.
#include "optimizer-rt/cl/pci_address.h"

namespace gt::opt {
namespace {

// Of extensions, which older headers lack.
constexpr cl_device_info PciBusInfoKhr = 0x410F;  // four cl_uint: domain, bus, device, function
constexpr cl_device_info PciBusNv = 0x4008, PciSlotNv = 0x4009, PciDomainNv = 0x400A;
constexpr cl_device_info TopologyAmd = 0x4037;
constexpr cl_uint PcieAmd = 1;

struct TopologyOfAmd {
  cl_uint type;
  unsigned char unused[17];
  unsigned char bus, device, function;
};
static_assert(sizeof(TopologyOfAmd) == 24);

template <class T>
bool ask(DeviceInfoFunction info, cl_device_id device, cl_device_info what, T* value) {
  size_t size = 0;
  return info(device, what, sizeof *value, value, &size) == CL_SUCCESS && size == sizeof *value;
}

}  // namespace

bool pci_address(DeviceInfoFunction info, cl_device_id device, PciAddress* at) noexcept {
  cl_uint khr[4], bus = 0, slot = 0, domain = 0;
  TopologyOfAmd amd;
  if (ask(info, device, PciBusInfoKhr, &khr)) {
    *at = {khr[0], khr[1], khr[2], khr[3]};
  } else if (ask(info, device, PciBusNv, &bus) && ask(info, device, PciSlotNv, &slot)) {
    ask(info, device, PciDomainNv, &domain);  // older drivers do not have it
    *at = {domain, bus, slot >> 3, slot & 7};
  } else if (ask(info, device, TopologyAmd, &amd) && amd.type == PcieAmd) {
    *at = {0, amd.bus, amd.device, amd.function};
  } else {
    return false;
  }
  return true;
}

}  // namespace gt::opt
