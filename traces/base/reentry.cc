#include "traces/base/reentry.h"

namespace gt {

__thread ThreadFlags t_flags __attribute__((tls_model("initial-exec")));

}  // namespace gt
