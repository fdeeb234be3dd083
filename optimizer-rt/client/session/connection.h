// A link to an executor, wherever it is: at a URL of the configuration, or in this process.
// Thread safety: functions from any thread.
#pragma once

#include <CL/cl.h>

#include <memory>
#include <string>

#include "optimizer-rt/client/session/chunk_naming.h"
#include "traces/base/status.h"
#include "transport/link/base/link.h"

namespace gt::virt {

class LocalExecutor;

// The link, and what must live as long as it.
struct Connection {
  std::unique_ptr<wire::Link> link;
  std::shared_ptr<LocalExecutor> behind;  // when the executor is in this process
  std::string url;                        // when it is not
  ChunkNaming naming = {};                // of what is sent again
  chunks::Packing packing = {};           // of what is sent and read
};

// Waits for the other side, LinkOptions::connect_ms at most; a driver in this process is loaded, and stays. Errors:
// those of parse_url(), credentials() and wire::connect(); Unsupported: the file is no driver.
Result<Connection> connect_to(const std::string& url);
// To an executor in this process, over a device whose handle the program has (open_device()).
Result<Connection> connect_to_device(cl_device_id native);

}  // namespace gt::virt
