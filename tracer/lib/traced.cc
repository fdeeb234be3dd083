#include "tracer/lib/traced.h"

namespace gt::tracer {

bool g_prepared = false;

void prepare() {
  g_prepared = true;
  real_pointer(FnId::clGetPlatformIDs);  // opens the real library
  if (capture_on()) api::image_elements = &elements_of;
  record_modules();
}

}  // namespace gt::tracer
