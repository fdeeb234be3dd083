// What all threads of a replay share.
// Thread safety: as each member says.
#pragma once

#include <atomic>

#include "tracer/gtrace/replay/captured_part.h"
#include "tracer/gtrace/replay/comparison.h"
#include "tracer/gtrace/replay/contents.h"
#include "tracer/gtrace/replay/devices.h"
#include "tracer/gtrace/replay/host_memory.h"
#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/late_reads.h"
#include "tracer/gtrace/replay/launches.h"
#include "tracer/gtrace/replay/mapped_boxes.h"
#include "tracer/gtrace/replay/objects.h"
#include "tracer/gtrace/replay/outcome.h"
#include "tracer/gtrace/replay/queues.h"
#include "tracer/gtrace/replay/unknown_contents.h"

namespace gt::tracer {

struct ReplayWorld {
  // The references must outlive it.
  const model::Trace& trace;
  const OpenClLibrary& cl;
  const DeviceChoice& devices;
  const ContentSource* contents = nullptr;          // nullptr: they were not kept
  bool compares = true, describes_kernels = false;  // describes: kernels keep what their arguments are called
  Tolerance tolerance;
  LaunchHook* hook = nullptr;  // may be null

  const CapturedPart part;

  ReplayObjects objects;
  HostMemory memory;
  MappedBoxes mapped;
  LateReads late_reads;
  LiveQueues queues;
  KernelFacts kernels;
  LaunchCounts launches;
  UnknownContents unknown;
  Outcome outcome;
  std::atomic<bool> measures{false};  // calls are timed and compared from now on

  ReplayWorld(const model::Trace& t, const OpenClLibrary& c, const DeviceChoice& d)
      : trace(t), cl(c), devices(d), part(t), kernels(c), outcome(t.shapes.size()) {}
};

}  // namespace gt::tracer
