// The spool: shared memory in which the traced processes leave records and from which the collector
// takes them.
//
// One file (a path that every traced process can open again) = one header page, `ring_count` rings, `segment_count`
// segments and, where calls are counted, a table for each ring (call_counts.h). A ring belongs to one thread at a time,
// which is its only writer; the collector is the
// only reader. Because the file outlives the program, what was committed survives any death of it.
//
// Invariants of a ring: tail <= head <= tail + ring_bytes; bytes [tail, head) are whole records;
// positions grow for
//   ever and are taken modulo ring_bytes; records are multiples of 8 bytes and never wrap (a Pad
//   record fills the end). Between records lie block words (block_words.h).
// Order: a record is visible when its bytes precede a release store of `head`. What one thread
// committed before it
//   made another thread act (by any synchronization) is visible before the other's record: see
//   spool_reader.h.
// A ring that is full because the collector has fallen behind goes on in a segment, which has room for as many bytes
//   as a ring: from its link's start on, positions lie there, again modulo ring_bytes. The collector gives a segment
//   back when it has read what lies before its own link. So a program waits only when there is no segment, either.
// Cost of a record: a bounds test, the stores, one release store. No lock, no system call, no
// allocation. Back-pressure: a ring that is full, and finds no segment, makes its thread wait; a dead collector
// switches recording off in every process.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/interpose/thread_path.h"
#include "tracer/lib/block_words.h"
#include "tracer/lib/repeats.h"

namespace gt::tracer {

constexpr uint64_t SpoolMagic = 0x314c4f4f50535447;  // "GTSPOOL1"
constexpr uint32_t SpoolVersion = 12;
constexpr uint64_t PageBytes = 4096;
constexpr uint32_t MaxRecordBytes = 128 << 10;  // longer byte strings travel as Chunk records
constexpr uint32_t ChunkBytes = 64 << 10;
constexpr uint32_t ContentPieceBytes = 64 << 10;  // of all pieces of a content but the last
constexpr uint32_t MaxFrames = 8;  // around the site of a memory call

enum class Timing : uint32_t { Off, Kernels, Transfers, All };

// What is kept of the data that transfers move (--capture).
enum class Capture : uint32_t { None, Hash, Full };

// Of which calls, with Capture::Full.
enum class CapturePart : uint32_t { All, Range, Kernel };
constexpr uint32_t MaxKernelName = 192;  // with its final 0

struct CaptureChoice {
  CapturePart part = CapturePart::All;
  uint32_t results = 0;           // --capture-results: what kernels wrote is read back, of all launches that are kept
  uint64_t first = 0, last = 0;   // Range: numbers of calls, from 1, of the thread whose OpenCL calls begin first
  uint64_t nth = 0;               // Kernel: of its launches, from 1
  char kernel[MaxKernelName] = {};
};

// Does anybody record? Ended is for good; gtrace ctl and gtrace's signals go to and fro between the others.
enum Recording : uint32_t { RecordingOn, RecordingEnded, RecordingPaused };

struct SpoolHeader {
  uint64_t magic = SpoolMagic;
  uint32_t version = SpoolVersion;
  uint32_t ring_count = 0;
  uint64_t ring_bytes = 0;  // a power of two, the same for all rings
  Timing timing = Timing::All;
  uint32_t sample = 1;         // time one command in so many of a call site; 0: as sampling.h decides
  uint32_t record_memory = 1;  // --no-alloc clears it
  uint32_t exact_times = 0;    // each call's time is wanted: calls that repeat are not counted only
  Capture capture = Capture::None;
  CaptureChoice choice;
  uint64_t max_trace_bytes = 0;  // --max-size; 0: none
  uint64_t stack_bytes = 0;    // memory calls of this size or more come with Frames; 0: none does
  uint64_t listed_from = 0;    // --no-memory-detail: calls of smaller blocks are only counted; 0: none is
  int32_t collector_pid = 0;
  uint64_t collector_start = 0;        // its start time (process_state.h): the number alone may be another's by now
  uint64_t start_ticks = 0;
  double ns_per_tick = 0;
  alignas(64) std::atomic<uint32_t> off{RecordingOn};  // a Recording; the path asks only whether it is 0
  uint32_t segment_count = 0;          // that the file has room for
  std::atomic<uint32_t> alone{0};      // who records alone (solitude.h). Every record looks at it, as at `off`
  alignas(64) std::atomic<uint64_t> rings_used{0};  // rings [0, rings_used) were ever claimed
  std::atomic<uint64_t> segments_used{0};           // the same of segments
  std::atomic<uint64_t> threads_without_ring{0};  // threads that found no ring or no memory for one
  std::atomic<uint64_t> uncounted_processes{0};  // whose allocators do not tell sizes: all calls are recorded
  std::atomic<uint64_t> chosen_calls{0};    // calls of the choice so far; Kernel: launches of that kernel
  std::atomic<uint64_t> waiting_since{0};  // ticks: when one of the threads that wait for the collector began; 0: none

  // Programs that were started and cannot be recorded: how many, and the first with the reason.
  std::atomic<uint32_t> not_followed{0}, not_followed_named{0};
  char not_followed_first[512] = {};

  // What gtrace ctl asks and sees. The traced processes look at none of it.
  alignas(64) std::atomic<int32_t> program_pid{0};
  int32_t gtrace_pid = 0;                     // the `gtrace run` that the user started
  std::atomic<uint32_t> pauses{0};            // times that recording was switched off; counted by who does it
  std::atomic<uint32_t> snapshots_wanted{0};  // counted up by whoever wants one
  std::atomic<uint32_t> snapshots_done{0};    // the wishes granted so far; written after the two that follow
  std::atomic<uint32_t> snapshot_failed{0};   // the last one could not be written
  char trace_path[2048] = {};                 // where the last one lies
  std::atomic<uint64_t> calls{0}, memory_calls{0};  // taken so far
  char folder[512] = {};  // that gtrace run, and so the program, began in; empty: not known, or too long

  // Records that the collector has moved out of the rings and not yet taken (tracer/collect/spill.h): bytes
  // [spill_begin, spill_end) of a file. Written by the collector.
  std::atomic<uint64_t> spill_begin{0}, spill_end{0};
  char spill_path[320] = {};  // absolute; empty: there is no such file
};

enum class RingState : uint32_t { Free, Owned, Ended };

// Where a ring, or a segment, goes on. Written by the thread, the number last and before `head` passes `start`.
struct SegmentLink {
  std::atomic<uint64_t> start{0};    // the first position there
  std::atomic<uint32_t> segment{0};  // its number; 0: nowhere (yet)
};

struct SegmentHeader {
  std::atomic<uint32_t> taken{0};
  SegmentLink next;
};

struct alignas(64) RingHeader {
  std::atomic<RingState> state{RingState::Free};
  int32_t pid = 0;
  int32_t tid = 0;
  int32_t parent_pid = 0;
  uint32_t driver = 0;  // the thread is one of the driver's
  uint64_t stack_low = 0, stack_high = 0;
  interpose::ThreadPath path;  // where the thread stands among those of its process
  alignas(64) std::atomic<uint64_t> head{0};  // written by the thread
  std::atomic<uint64_t> clock{0};  // likewise, before the head: its last reading for a memory call
  std::atomic<uint64_t> wait_ticks{0};        // time the thread waited for space
  std::atomic<uint64_t> harvest_ticks{0};     // time spent reading device timestamps
  std::atomic<uint64_t> unrecorded{
      0};  // calls that could not be recorded here (from signal handlers)
  alignas(64) std::atomic<uint64_t> tail{0};  // written by the collector
  std::atomic<uint64_t> tail_repeated{0};     // likewise: calls taken of the Repeat record there
  std::atomic<uint32_t> tail_segment{0};      // likewise: where that position lies; 0: in the ring itself
  SegmentLink next;
  std::atomic<uint32_t> counts{0};  // there is memory behind the ring's CallCounts
  alignas(64) uint64_t base = 0;     // the thread's: of its last Base word
  Repeats repeats;                       // the thread's
  uint64_t forms[BlockFormCount] = {};   // the thread's: what its block words stand for (block_form()); 0: nothing
};
static_assert(sizeof(RingHeader) <= PageBytes && sizeof(SpoolHeader) <= PageBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Ring i lies at spool_ring_offset(i): one page of header, then ring_bytes of records.
constexpr uint64_t spool_ring_offset(uint64_t ring_bytes, uint64_t i) {
  return PageBytes + i * (PageBytes + ring_bytes);
}
constexpr uint64_t spool_bytes(uint64_t ring_bytes, uint64_t ring_count) {
  return spool_ring_offset(ring_bytes, ring_count);
}

// Segments are numbered from 1; a page of header, then ring_bytes of records.
constexpr uint64_t spool_segment_offset(uint64_t ring_bytes, uint64_t ring_count, uint64_t segment) {
  return spool_ring_offset(ring_bytes, ring_count + segment - 1);
}

enum class RecordType : uint16_t {
  Pad,         // nothing; fills the end of the ring
  Enter,       // an OpenCL call begins: site, stack pointer, encoded inputs
  Exit,        // it returned: encoded outputs
  ExitTimed,   // the same, and a DeviceTime record will follow when the command is complete
  // Memory calls: the words of their parameters and results, in the order of traces/api/alloc_fn.h.
  Allocate,    // one that gives nothing back returned: site, parameters, result, what alloc_hooks.h adds; then, for
               // the mapping of a file, its path as a zero-terminated string
  Release,     // one is about to give memory back: site, parameters
  Returned,    // it did, and has this result: follows the Release of a call that has one
  DeviceTime,  // ring and sequence number of the call, start, end (device ns; end < start: not
               // available)
  Process,     // pid, parent pid, then executable and arguments as zero-terminated strings
  Module,      // base, end, then build-id and path as zero-terminated strings
  Device,  // handle, 0, name as a zero-terminated string: once for each device that gets a queue
  Chunk,   // part of a byte string that is too long for a record: last flag, bytes
  ThreadEnd,  // the last record of a thread that ended by itself
  Register,       // within a call: number of the callback that it registers. fn: its kind (api::CallbackFn)
  CallbackEnter,  // a callback begins: its number, stack pointer, encoded inputs
  CallbackExit,   // it returned
  Frames,  // the return addresses around the site of the memory record that follows, innermost first
  KernelName,  // handle, 0, name as a zero-terminated string: of a kernel that the call under way made, unnamed
  Content,     // within a call: hash and number of the bytes that it moves (0: not known), ticks that hashing took
  MemoryFacts,  // within a create call that does not say it: bytes, and bytes of an element, of what it made
  CommandArg,   // within a call that updates a command buffer: see CommandArgKind
  BlockForm,   // number, form, form before: what this number stands for in the block words that follow
  Repeat,      // a RepeatRecord (repeats.h). fn: words of the period. ticks: before the first of its calls
  Blocks,      // in no ring: a run of block words, as the reader gives them. ticks: before the first of them
  KernelArgs,  // handle, length, text (traces/model/folded/kernel_origin.h): of a kernel that the call under way made
  LeftList,    // address: of a block that has become too small to be listed (call_counter.h)
  ContentPiece,  // number of bytes, bytes (padded): of the content whose Content record follows
  SharedContent,  // address, hash, bytes, ticks, SharedKind. bytes 0: it could not be looked at
  Fresh,       // within a call: bytes that it moves, how many of them have no page yet, ticks that asking took
};

// Of which memory a SharedContent record is.
enum class SharedKind : uint32_t {
  Launch,   // that the launch may read
  Pending,  // that the read will fill, which does not wait: nothing yet
  Waited,   // that such a read has filled, for which the call has waited
  // Of a call that was chosen (CaptureChoice), what the device holds. The address: of a handle, or of SVM.
  Chosen,         // nothing yet: the call is one
  Object, Memory,               // before it: a memory object, an allocation
  WrittenObject, WrittenMemory  // after it
};

// An update says how many commands it changes, then each command, and behind it what changes. A record has kind,
// handle of the command, part (api::UpdatePart), index, size, form, then the value as that says.
enum class CommandArgKind : uint32_t {
  Commands,  // value: how many; all ones: they could not be read
  Command,   // index: its dimensions
  Change
};
enum class CommandArgForm : uint32_t {
  None,
  Word,
  Address,
  Bytes,  // `size` of them, after their number
};

// Every record starts with this. `bytes` includes it.
struct RecordHeader {
  uint32_t bytes;
  RecordType type;
  uint16_t fn;  // Enter, Exit, Allocate, Release, Returned
  uint64_t ticks;
};
static_assert(sizeof(RecordHeader) == 16);

// The environment through which a traced process finds its spool.
constexpr const char* SpoolVariable = "GTRACE_SPOOL";

}  // namespace gt::tracer
