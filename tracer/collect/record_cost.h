// What writing a record costs a program's thread here, in ns: measured on a ring of this process, in some ms.
//
// An estimate of what `gtrace stats` shows as the cost of recording: the program's own caches and branches make a real
// record dearer or cheaper by a factor of two.
#pragma once

namespace gt::tracer {

double measure_record_ns();

}  // namespace gt::tracer
