// By what a side of a link proves who it is: a token, or certificates. Thread safety: functions from any thread.
#pragma once

#include <memory>
#include <string>

#include "traces/base/bytes.h"
#include "traces/base/status.h"

namespace gt::wire {

class TlsContext;

constexpr size_t TokenBytes = 32;
struct Credentials {
  Bytes token;                // TokenBytes; none: not by token
  std::string cert, key, ca;  // files (PEM); tls:// needs all three
  std::shared_ptr<const TlsContext> server = {}, client = {};  // load_certificates() (tls.h): what they hold
};
// A token file: 64 hex digits, readable by its owner only.
Result<Bytes> read_token(const std::string& path);
Result<Bytes> make_token(const std::string& path);  // Busy: the file is there already

}  // namespace gt::wire
