// What all threads of a replay share.
// Thread safety: as each member says.
#pragma once

#include <atomic>
#include <string>

#include "tracer/gtrace/replay/addresses.h"
#include "tracer/gtrace/replay/captured_part.h"
#include "tracer/gtrace/replay/command_buffers.h"
#include "tracer/gtrace/replay/comparison.h"
#include "tracer/gtrace/replay/contents.h"
#include "tracer/gtrace/replay/devices.h"
#include "tracer/gtrace/replay/gates.h"
#include "tracer/gtrace/replay/host_memory.h"
#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/late_reads.h"
#include "tracer/gtrace/replay/launches.h"
#include "tracer/gtrace/replay/mapped_boxes.h"
#include "tracer/gtrace/replay/objects.h"
#include "tracer/gtrace/replay/outcome.h"
#include "tracer/gtrace/replay/program_sources.h"
#include "tracer/gtrace/replay/queues.h"
#include "tracer/gtrace/replay/recorded_headers.h"
#include "tracer/gtrace/replay/registered_callbacks.h"
#include "tracer/gtrace/replay/unknown_contents.h"
#include "tracer/gtrace/replay/untouched.h"

namespace gt::tracer {

struct ReplayWorld {
  // The references must outlive it.
  const model::Trace& trace;
  const OpenClLibrary& cl;
  const DeviceChoice& devices;
  const ContentSource* contents = nullptr;          // nullptr: they were not kept
  bool overlaps = false;                            // transfers that blocked go on where nothing needs them yet
  bool compares = true, describes_kernels = false;  // describes: kernels keep what their arguments are called
  Tolerance tolerance;
  LaunchHook* hook = nullptr;  // may be null
  bool alone = false;          // one thread makes all calls
  const RecordedHeaders* headers = nullptr;  // nullptr: the sources include nothing
  std::string header_folder;                 // where they lie

  const CapturedPart part;
  const bool summarised;  // --max-size: some values are Unkept

  ReplayObjects objects;
  HostMemory memory;
  MappedBoxes mapped;
  SharedAddresses addresses;
  CommandBuffers command_buffers;
  Untouched untouched;
  RegisteredCallbacks callbacks;
  LateReads late_reads;
  LiveQueues queues;
  Gates gates;
  KernelFacts kernels;
  LaunchCounts launches;
  ProgramSources sources;
  UnknownContents unknown;
  Outcome outcome;
  std::atomic<bool> measures{false};  // calls are counted, timed and compared from now on
  bool times_calls = true;            // each: reading the clock twice is a fifth of what a replay adds to a call

  ReplayWorld(const model::Trace& t, const OpenClLibrary& c, const DeviceChoice& d)
      : trace(t),
        cl(c),
        devices(d),
        part(t),
        summarised(!t.fact("summarised.values").empty()),
        objects(t),
        gates(c),
        kernels(c),
        sources(t),
        outcome(t.shapes.size()) {}
};

}  // namespace gt::tracer
