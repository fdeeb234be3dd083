// Reading /sys/bus/pci.
#include "traces/model/platform/accelerators.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

namespace gt::model {
namespace {

// The number in a file like "0x10de", without "0x".
std::string number_in(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string word;
  in >> word;
  return word.starts_with("0x") ? word.substr(2, 16) : std::string();
}

// Display controllers have class 03, processing accelerators 12 (PCI Code and ID Assignment Specification).
bool is_accelerator(std::string_view device_class) {
  return device_class.starts_with("03") || device_class.starts_with("12");
}

}  // namespace

std::optional<std::string> accelerators(const std::string& root) {
  std::error_code error;
  std::filesystem::directory_iterator devices(root + "/sys/bus/pci/devices", error);
  if (error) return std::nullopt;
  std::vector<std::string> found;
  for (; devices != std::filesystem::directory_iterator(); devices.increment(error)) {
    const std::filesystem::path& device = devices->path();
    if (is_accelerator(number_in(device / "class")))
      found.push_back(number_in(device / "vendor") + ":" + number_in(device / "device"));
  }
  std::sort(found.begin(), found.end());
  std::string out;
  for (const std::string& one : found) out += (out.empty() ? "" : " ") + one;
  return out;
}

}  // namespace gt::model
