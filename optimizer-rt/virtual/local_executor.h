// An executor in this process, over a driver that is opened by its path: for tests, and for nodes without a proxy.
#pragma once

#include "optimizer-rt/virtual/configuration.h"

namespace gt::virt {

// `driver`: an ICD (libpocl.so.2), not a loader, which would come back to us.
Result<Connection> connect_to_driver(const std::string& driver);

}  // namespace gt::virt
