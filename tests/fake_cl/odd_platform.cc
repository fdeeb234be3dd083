// A fake that is odd by itself: several of them may be in one process, with one environment.
#include "tests/fake_cl/behaviour.h"

namespace gt::fake {
const char* built_in() { return GT_ODD_PLATFORM; }
}  // namespace gt::fake
