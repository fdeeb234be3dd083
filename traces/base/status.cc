#include "traces/base/status.h"

#include <cstring>

namespace gt {

Status system_error(const std::string& what, int err) {
  return Status(Kind::System, what + ": " + std::strerror(err), err);
}

}  // namespace gt
