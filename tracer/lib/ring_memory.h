// The memory of the spool as a traced process sees it: which rings and segments there are, and who takes one.
//
// Thread safety: all functions, also against other processes. No allocation; some system calls.
#pragma once

#include "tracer/lib/ring.h"

namespace gt::tracer {

// Maps the file. nullptr: it is no spool of ours, or there is no room for its rings. Once in a process.
SpoolHeader* open_spool(const char* path);

// REQUIRES of all that follow: it is open.
RingHeader* ring_header(uint32_t index);
// Any free ring among those used before, else a new one. -1: none now.
int try_to_take_ring();
// Does a ring wait for the collector to empty it and make it free?
bool a_ring_has_ended();
// From its position on the ring's records lie in another segment. False: there is none.
bool go_on_in_segment(Ring& ring);

}  // namespace gt::tracer
