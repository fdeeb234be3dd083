// Finds the devices of this node without loading a driver here: children list them, within a time limit.
//
// One child asks the loader for everything. If it crashes or does not come back, each installed driver is tried in a
// child of its own; those that answer are put into a folder, for the loaders of workers (OCL_ICD_VENDORS), and the
// others are named and left out.
// Thread safety: functions from any thread.
#pragma once

#include <string>
#include <vector>

#include "traces/sandbox/own_folder.h"
#include "transport/gproxy/devices.h"

namespace gt::proxy {

struct Probed {
  Inventory inventory;
  std::vector<std::string> left_out;      // "/etc/OpenCL/vendors/x.icd: crashed (Segmentation fault)"
  std::vector<std::string> environment;  // for workers: {} or {"OCL_ICD_VENDORS=..."}
  OwnFolder folder;                      // which the environment names, if there is one
};

// Blocks: `seconds` at most for the first child, as long again for all those of single drivers together, and once more
// for those that are left. Unsupported: there is no loader, or one of no use.
Result<Probed> probe_devices(unsigned seconds);

// The child: writes the list as JSON to ControlFd.
int probe_command(int argc, char** argv);

}  // namespace gt::proxy
