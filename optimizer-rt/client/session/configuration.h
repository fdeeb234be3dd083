// Which executors there are, and how to reach them: from the environment. The one file that reads it.
//
//   GTRACE_REMOTE           URLs, comma separated, in the order in which devices are listed:
//                           shm:NAME, tcp://HOST:PORT, tls://HOST:PORT, local:/path/of/a/driver.so (in this process)
//   GTRACE_TOKEN_FILE       what proves to a proxy that we may; $XDG_CONFIG_HOME/gtrace/token
//   GTRACE_CERT, _KEY, _CA  files for tls://
//   GTRACE_SPREAD=1         each device of a context has memory of its own, also where they are of one driver
//   GTRACE_PLATFORM_NAME    what the platform is called. gtrace (the default); native: as that of the first device;
//                           auto: as that of all devices if they have one, else gtrace
//   GTRACE_SYNC_ERRORS=1    each command waits for its end (2 s at most) and returns the error itself
//
// Thread safety: constants after the first call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/link/base/link.h"

namespace gt::virt {

std::vector<std::string> remote_urls();
bool spreads();
bool sync_errors();
enum class Naming : uint8_t { Own, Native, Auto };
Naming naming();  // of the platform

class LocalExecutor;

// A link to what `url` names, and what must live as long as it.
struct Connection {
  std::unique_ptr<wire::Link> link;
  std::shared_ptr<LocalExecutor> behind;  // when that is in this process
  std::string url;                        // when it is not
};
Result<Connection> connect_to(const std::string& url);

}  // namespace gt::virt
