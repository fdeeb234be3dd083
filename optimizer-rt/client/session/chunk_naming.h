// How chunks are named at one proxy, and whether.
// Thread safety: values.
#pragma once

#include "optimizer-rt/client/base/configuration.h"
#include "transport/chunks/piece_name.h"

namespace gt::virt {

struct ChunkNaming {
  DedupMode mode = DedupMode::Never;
  chunks::Key key{};
  bool tells_key = false;  // the proxy cannot make it of the token
};

}  // namespace gt::virt
