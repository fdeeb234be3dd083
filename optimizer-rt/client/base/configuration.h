// Which executors there are, and what proves to them that we may: from the environment. The one file that reads it.
//
//   GTRACE_REMOTE           URLs, comma separated, in the order in which devices are listed:
//                           shm:NAME, tcp://HOST:PORT, tls://HOST:PORT, local:/path/of/a/driver.so (in this process)
//   GTRACE_TOKEN_FILE       what proves to a proxy that we may; $XDG_CONFIG_HOME/gtrace/token
//   GTRACE_CERT, _KEY, _CA  files for tls://
//   GTRACE_SPREAD=1         each device of a context has memory of its own, also where they are of one driver
//   GTRACE_EMULATE_USM=1    unified shared memory is made of the shared virtual one where a device's driver has none
//   GTRACE_PLATFORM_NAME    what the platform is called. gtrace (the default); native: as that of the first device;
//                           auto: as that of all devices if they have one, else gtrace
//   GTRACE_DEDUP            may large writes go by name? auto (the default): where it pays; always: for tests; never
//   GTRACE_COMPRESS         may transfers be compressed? auto (the default): where it pays; never; 1 to 19: always, at
//                           that level of zstd's
//   GTRACE_SYNC_ERRORS=1    each command waits for its end (2 s at most) and returns the error itself
//
// Thread safety: any thread. spreads(), emulates_usm(), sync_errors(), dedup() and compression() are constants after
// the first call; the others look at the environment, and credentials() at the token's file, each time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"
#include "transport/chunks/packing.h"
#include "transport/link/connect.h"

namespace gt::virt {

std::vector<std::string> remote_urls();
bool spreads();
bool emulates_usm();
bool sync_errors();
enum class DedupMode : uint8_t { Auto, Always, Never };
DedupMode dedup();
chunks::Packing compression();
enum class Naming : uint8_t { Own, Native, Auto };
Naming naming();  // of the platform

// What is shown to a proxy at that URL.
Result<wire::Credentials> credentials(const wire::Url& url);

}  // namespace gt::virt
