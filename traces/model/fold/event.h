// The trace, as a value: what the collector builds, the store keeps, and every reader works on.
//
// A program's run is a set of streams, one of OpenCL calls and one of memory calls per thread. Each call is an
// *event*: a shape (what cannot vary without making it another call: function, call site, the form of each
// argument) and a short row of 64-bit values (what can: slots, sizes, offsets, scalars). Folding (fold.h) sees only
// (shape, values), so it knows nothing of OpenCL; meaning comes back through shapes, classes and the API table.
//
// Objects are named (class, slot). A class is where objects are born: kind, creating thread, creating call site and,
// for kernels and programs, a label. A slot is the lowest number free in its class when the object is created, and is
// free again when it is released. So names do not depend on addresses, and a loop that creates and releases the same
// objects each time names them the same each time.
//
// SSA versions are not stored: they follow from the order of calls and the roles of their arguments (an argument's
// `effect`). `ssa.h` computes them over the folded form.
//
// Margiolas & O'Boyle, "Portable and Transparent Host-Device Communication Optimization for GPGPU Environments",
// section 4 (call trace in SSA form, trace compression).
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/api/roles.h"
#include "traces/base/bytes.h"
#include "traces/model/series/series.h"

namespace gt::model {

using FnId = uint16_t;      // an OpenCL function of the API table, or an allocation function (>= FirstAllocFn)
using SiteId = uint32_t;    // index into Trace::sites
using ClassId = uint32_t;   // index into Trace::classes
using ShapeId = uint32_t;   // index into Trace::shapes
using ThreadId = uint32_t;  // index into Trace::threads
using BlobId = uint32_t;    // index into Trace::blobs
constexpr uint32_t NoIndex = 0xffffffff;

using api::ObjectKind;  // what an object is: traces/api/roles.h
const char* object_kind_letter(ObjectKind kind);  // "b" for Buffer, "s" for Segment, "q" for Queue, ...
const char* object_kind_name(ObjectKind kind);    // "buffer", "segment", ...

// How one argument position of a shape is given, and how many values it takes from the event's row.
enum class ArgForm : uint8_t {
  Null,    // a NULL pointer or handle: no value
  Int,     // one value: a scalar, an enum, a bit field, a float's bits
  Object,  // one value: the slot in class `cls`
  Memory,  // two values: slot in class `cls`, byte offset from its base
  Blob,    // one value: a BlobId (strings, kernel argument bytes, query results)
  Code,    // one value: a SiteId (a function's address)
  Raw,     // one value: a pointer-sized number that means nothing to us
  Empty,   // a list that is there but has no element: no value
};
constexpr int value_count(ArgForm form) {
  return form == ArgForm::Memory ? 2 : (form == ArgForm::Null || form == ArgForm::Empty ? 0 : 1);
}

using Direction = api::Transfer;
using api::Effect;      // what a call does to an object; SSA follows from it: traces/api/roles.h

struct Arg {
  uint16_t param = 0;  // parameter index in the function; see the constants below
  ArgForm form = ArgForm::Null;
  Effect effect = Effect::None;
  ClassId cls = NoIndex;  // Object and Memory only
  bool operator==(const Arg&) const = default;
};
constexpr uint16_t ParamReturn = 0xff00;      // the function's return value
constexpr uint16_t ParamAllocs = 0xff01;      // memory calls made by this thread since its previous OpenCL call
constexpr uint16_t ParamImplied = 0xff02;     // what the call uses or defines without naming it: the parent of a
                                              // sub-buffer, memory that a buffer uses in place, what the commands of a
                                              // command buffer touch and which kernels they launch
constexpr uint16_t ParamCallback = 0xff03;    // the callback that a call registers, or that is called
constexpr uint16_t ParamContent = 0xff04;     // of a transfer, map or unmap, with gtrace run --capture: a number
                                              // (ArgForm::Int) for the bytes moved, by first appearance in the
                                              // process; equal exactly when the bytes are; -1 when they were not to
                                              // be had
constexpr uint16_t ParamSharedContent = 0xff05;  // of a launch, with --capture full: memory that the program may have
                                                 // written unseen and kernels may read, and the number of its content
                                                 // now, for each that has changed since the last launch. Of a call that
                                                 // waits: where reads that did not have put their data, and its number
constexpr uint16_t ParamBefore = 0xff06;  // of a call whose data was chosen to be kept (gtrace run --capture-kernel,
                                          // --capture-range): Empty, then each object or allocation that it is the
                                          // first of these calls to have, and the number of what that held before it
constexpr uint16_t ParamAfter = 0xff07;   // of a launch: the same, of what its kernel may have written, after it
constexpr uint16_t ParamKernelArg = 0x8000;   // + index: an object bound to a launched kernel (implicit use/def)

// Elements of a list argument are consecutive Args with the same param. Values come in the order of `args`.
struct Shape {
  FnId fn = 0;
  SiteId site = NoIndex;
  ThreadId thread = 0;
  bool unfinished = false;  // the call was entered and never returned (crash, kill, exit inside)
  std::vector<Arg> args;
  // Which way its calls move data; how much: ShapeStats::bytes (traces/api/transfer_size.h).
  Direction moves = Direction::None;
  int values() const {
    int n = 0;
    for (const Arg& a : args) n += value_count(a.form);
    return n;
  }
  bool operator==(const Shape&) const = default;
};

// One node of a folded stream.
struct Node {
  enum class Kind : uint8_t {
    Call,  // one call: shape, values
    Loop,  // `count` times `body`
    Run,   // a stretch that did not fold: `count` calls, kept as compressed columns in `run`
    Summary,  // `count` calls that the size budget left out (--max-size): how many of each shape, in `run`
  };
  Kind kind = Kind::Call;
  ShapeId shape = NoIndex;      // Call
  std::vector<Series> values;   // Call: one per value of the shape, each ranging over the enclosing loops
  Series count;                 // Loop: trip count, ranging over the enclosing loops. Run: a constant
  std::vector<Node> body;       // Loop
  Bytes run;                    // Run and Summary: see run.h
};

struct Stream {
  ThreadId thread = 0;
  bool memory = false;  // the thread's allocation calls; else its OpenCL calls
  std::vector<Node> nodes;
  Bytes timeline;       // with --timeline: when each of its events was, see timeline.h; else empty
};

struct Class {
  ObjectKind kind = ObjectKind::Unknown;
  ThreadId thread = 0;       // creating thread
  SiteId site = NoIndex;     // creating call's site
  FnId fn = 0;               // creating function
  BlobId label = NoIndex;    // kernel's name, module's path, device's name
  bool operator==(const Class&) const = default;
};

struct Module {
  uint32_t process = 0;
  uint64_t base = 0, end = 0;  // load bias and end in that process, for reading raw addresses only
  std::string path;
  std::string build_id;        // hex; empty when the file has none
};
constexpr size_t MaxSiteDepth = 64;  // no chain of outer sites is longer
struct Site {
  uint32_t module = NoIndex;   // into Trace::modules
  uint64_t offset = 0;         // return address minus the module's load bias
  SiteId outer = NoIndex;      // the call around it, when this place alone does not tell its uses apart (a wrapper)
  bool operator==(const Site&) const = default;
};

struct Process {
  int64_t pid = 0;
  int64_t parent = 0;          // pid of the process that forked it, 0 for the first
  std::string executable;
  std::vector<std::string> arguments;
  uint64_t start_ns = 0, end_ns = 0;  // since the start of recording
  int exit_code = -1;          // of the first process; -1 when not known
  int exit_signal = 0;
};
struct Thread {
  uint32_t process = 0;
  int64_t tid = 0;
};

// A distribution, kept as moments and a log2 histogram: bucket i counts values v with floor(log2(v)) == i - 1;
// bucket 0 counts v == 0.
struct Stats {
  uint64_t count = 0, sum = 0, min = 0, max = 0;
  std::array<uint32_t, 64> histogram{};
  void add(uint64_t v, uint64_t times = 1);
  void merge(const Stats& other);
};

// Per shape: what its calls cost. `host` in ns of host time; `device` in ns between START and END of the command.
struct ShapeStats {
  uint64_t calls = 0;
  uint64_t failed = 0;         // returned an OpenCL error, or NULL from an allocation
  Stats host_ns;               // empty for memory calls: they are not timed
  Stats device_ns;             // all commands when some were timed: those that were not are estimated from those
  uint64_t timed = 0;          // commands that were really timed
  Stats bytes;                 // transfers, allocations, buffers over host memory (CL_MEM_USE_HOST_PTR)
  uint64_t first_host_ns = 0, first_device_ns = 0;  // the first call alone: warm-up
  uint64_t insane = 0;         // device timestamps that made no sense, left out above
};

// Per device: unions of intervals on its clock, so that overlapping commands are not counted twice.
struct DeviceTime {
  std::string device;          // its name
  uint64_t kernel_ns = 0, transfer_ns = 0, h2d_ns = 0, d2h_ns = 0;
  uint64_t overlap_ns = 0;     // both at once
  uint64_t kernels = 0, transfers = 0;             // timed commands
  uint64_t estimated_kernels = 0, estimated_transfers = 0;  // not timed, but others stand for them (--timing auto)
  uint64_t untimed_kernels = 0, untimed_transfers = 0;      // in none of the sums
  // Steady state: the same unions without the first timed command of each shape, so without set-up and warm-up.
  uint64_t steady_kernel_ns = 0, steady_transfer_ns = 0, steady_overlap_ns = 0;
  uint64_t commands() const {
    return kernels + transfers + estimated_kernels + estimated_transfers + untimed_kernels + untimed_transfers;
  }
};

// The same for a queue, or for a context on one device.
struct ObjectTime {
  ClassId cls = NoIndex;  // of the queue or context...
  uint32_t slot = 0;      // ...and its slot
  uint32_t device = 0;    // index into Trace::devices
  DeviceTime time;        // without a name
};

// What is known of a kernel object's code, by kernel class.
struct Kernel {
  ClassId cls = NoIndex;
  std::string name;
  BlobId source = NoIndex;     // concatenated program source
  BlobId options = NoIndex;    // build options
};

struct Blob {
  Bytes bytes;
  uint64_t full_size = 0;      // of what was seen; larger than bytes.size() when cut
  bool operator==(const Blob&) const = default;
};

struct Trace {
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Module> modules;
  std::vector<Site> sites;
  std::vector<Class> classes;
  std::vector<Blob> blobs;
  std::vector<Shape> shapes;
  std::vector<ShapeStats> stats;        // parallel to shapes
  std::vector<Stream> streams;
  std::vector<DeviceTime> devices;
  std::vector<ObjectTime> object_times;  // of queues and contexts
  std::vector<Kernel> kernels;
  // Counters and facts by name: "timing", "capture", "calls", "memory_calls", "wall_ns", "opencl_library",
  // "lost.*" (what was not recorded and why), "overhead.*" (our own cost in ns). Text, so that readers need no schema.
  std::vector<std::pair<std::string, std::string>> facts;

  std::string_view fact(std::string_view name) const;  // "" when absent
  std::string_view label(ClassId cls) const;           // of a kernel: its name; "" when it has none
};

}  // namespace gt::model
