// Programs that the traced one starts: they are followed, or the spool counts them as not followed.
//
// Thread safety: call before there are threads.
#pragma once

namespace gt::tracer {

void follow_children();

}  // namespace gt::tracer
