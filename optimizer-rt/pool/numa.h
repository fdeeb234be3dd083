// Where memory and devices are, on machines with several memory nodes.
// Allocates nothing, leaves errno alone. Thread safety: all functions. `root`: the folder that /sys is looked for in;
// "": the system's own.
#pragma once

#include <cstddef>

namespace gt::opt {

constexpr int NoNode = -1;

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
};

// The memory node that a device of the PCI bus is attached to; NoNode: it has none, or nobody knows.
int node_of_pci(const char* root, const PciAddress& at) noexcept;

// Does the machine have more than one node that is online?
bool has_several_nodes(const char* root) noexcept;

// Pages of the range that are not there yet come from this node, as long as it has some; NoNode: from wherever the
// thread runs that touches them first. False: the system refused.
bool prefer_node(void* base, size_t bytes, int node) noexcept;

}  // namespace gt::opt
