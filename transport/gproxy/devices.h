// The devices of this node as facts, and which of them are served.
//
// The supervisor never loads a driver: a child (probe.h) lists the devices and tells them as JSON; a worker lists them
// again in the same order, so that a number means the same device in both.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/status.h"

namespace gt::proxy {

struct DeviceFacts {
  unsigned number = 0;  // in the order of the loader's platforms and their devices
  std::string platform, name;
  std::string type;  // "gpu", "cpu", "accelerator", "custom"
  uint64_t memory_bytes = 0;
};

struct Inventory {
  std::vector<DeviceFacts> devices;
  std::vector<std::string> notes;  // what is strange: a platform without devices, one that answers with an error
};

std::string to_json(const Inventory& inventory);
// Corrupt when `text` is not what to_json() gives.
Result<Inventory> inventory_from_json(std::string_view text);

// `wanted`: terms joined by commas, each a number, a type, "all", or a pattern (*, ?) that a device's name matches in
// any case; a pattern without * is one for a part of the name. Invalid, in one line, when a term matches no device.
Result<std::vector<DeviceFacts>> select_devices(const std::vector<DeviceFacts>& all, std::string_view wanted);

// "0 gpu NVIDIA H200 (NVIDIA CUDA), 139 GiB"
std::string device_line(const DeviceFacts& device);

}  // namespace gt::proxy
