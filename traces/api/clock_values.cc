// The functions that give times back, by name.
#include "traces/api/clock_values.h"

#include "traces/api/fn_id.h"

namespace gt::api {

bool is_clock_value(uint16_t fn, uint16_t param) {
  switch (static_cast<FnId>(fn)) {
    case FnId::clGetEventProfilingInfo: return param == 3;
    case FnId::clGetHostTimer: return param == 1;
    case FnId::clGetDeviceAndHostTimer: return param == 1 || param == 2;
    default: return false;
  }
}

}  // namespace gt::api
