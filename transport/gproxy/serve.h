// What `gproxy serve` was asked for, checked; and the token file.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/command_line.h"
#include "traces/base/status.h"
#include "transport/gproxy/worker_plan.h"
#include "transport/link/hello/url.h"

namespace gt::proxy {

struct ServeOptions {
  std::vector<wire::Url> urls;
  std::string devices;
  size_t max_clients = 0;
  unsigned drain_s = 0, probe_s = 0;
  bool sandbox = true;
  std::string store_folder;  // empty: what is kept is kept in memory
  std::vector<wire::Url> metrics;  // one or none
  WorkerPlan plan;                 // all but the devices
};

// Invalid, in one line: what is wrong with the command line.
Result<ServeOptions> serve_options(const Options& options);

// $XDG_CONFIG_HOME/gtrace/token; empty when there is no home.
std::string default_token_file();
// Makes the file if there is none, and its folder (0700). Whether it was made. An existing one must be sound.
Result<bool> have_token(const std::string& path);

}  // namespace gt::proxy
