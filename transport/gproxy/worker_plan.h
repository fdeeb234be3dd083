// What a worker is told when it is started: which devices, how much a client may have, how clients prove who they are.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::proxy {

struct WorkerPlan {
  std::vector<unsigned> devices;  // numbers of OpenCl::list()
  uint64_t memory_bytes = 0, objects = 0, build_seconds = 0, in_flight_bytes = 0;
  std::string token_file, cert, key, ca;  // read by the worker, so that new ones need no restart
  std::string shm;  // NAME of the shm:NAME at which workers of this node find the proxy; empty: nowhere
  uint64_t store_bytes = 0;  // for what an owner's clients send again; 0: nothing is kept
  std::string temporary;  // the folder for temporary files, in a sandbox; empty: no sandbox
};

// As words of a command line, and back.
std::vector<std::string> to_words(const WorkerPlan& plan);
Result<WorkerPlan> plan_from_words(const std::vector<std::string>& words);

}  // namespace gt::proxy
