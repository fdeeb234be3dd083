#include "tracer/lib/memory_ticks.h"

namespace gt::tracer {

__thread MemoryClock t_memory_clock __attribute__((tls_model("initial-exec")));

}  // namespace gt::tracer
