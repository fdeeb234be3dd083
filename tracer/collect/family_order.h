// The order of processes and threads in a trace: as in their family tree, whoever ran first.
//
// The first process stays first; another comes after its parent, and among its brothers by pid (which grows, wrapping
// aside). Threads come process by process, each before those that it started, in the order in which it started them;
// those that a driver started come last among their brothers (thread_path.h).
#pragma once

#include <span>

#include "tracer/interpose/thread_path.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// Renumbers everything in `trace` that refers to a process or thread, and sorts its streams. `paths` is parallel to
// trace.threads. A class without a
// creating thread (NoIndex: devices, static data) is thread 0's from here on.
void put_in_family_order(model::Trace& trace, std::span<const interpose::ThreadPath> paths);

}  // namespace gt::tracer
