// Which graphics cards and accelerators the system has, without asking a driver.
#pragma once

#include <optional>
#include <string>

namespace gt::model {

// The PCI numbers of the display controllers and processing accelerators, sorted, with blanks between: "10de:2335
// 10de:2335". Nothing when the system does not show its PCI devices. `root` is put before the path of /sys.
std::optional<std::string> accelerators(const std::string& root = {});

}  // namespace gt::model
