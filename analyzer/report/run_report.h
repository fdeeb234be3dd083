// Where the run's time goes, as text.
#pragma once

#include <string>

#include "analyzer/base/text.h"
#include "analyzer/calls/run_parts.h"
#include "analyzer/transfers/goptimize_gain.h"

namespace gt::analyzer {

// One part, as reports call it.
struct RunPart {
  const char* key;   // in JSON, with _ns
  const char* name;  // for people
  uint64_t RunParts::*ns;
  bool reachable;  // by goptimize
};
constexpr RunPart RunPartList[] = {
    {"startup", "Starting OpenCL (platforms, devices, contexts, queues)", &RunParts::startup_ns, false},
    {"builds", "Programs and kernels", &RunParts::build_ns, false},
    {"memory_objects", "Buffers and images: made, released", &RunParts::memory_ns, false},
    {"transfers", "Transfers", &RunParts::transfer_ns, true},
    {"touch_in_transfers", "First touch of memory, in transfers", &RunParts::touch_transfer_ns, true},
    {"kernels", "Waiting for kernels", &RunParts::kernel_ns, false},
    {"waiting", "Waiting for neither", &RunParts::wait_ns, false},
    {"other_calls", "Other OpenCL calls", &RunParts::call_ns, false},
    {"touch_elsewhere", "First touch of memory, elsewhere", &RunParts::touch_own_ns, true},
    {"own", "The program itself", &RunParts::own_ns, false},
};

// Amdahl's bound in a sentence. REQUIRES: run.known().
std::string bound_text(const RunParts& run);
// What goptimize is predicted to save, in a sentence.
std::string gain_text(const GoptimizeGain& gain, const RunParts& run);
// Nothing where it is not known how long the run was.
void add_run(Text& out, const RunParts& run);

}  // namespace gt::analyzer
