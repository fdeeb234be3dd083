// What the collector keeps per process, thread and device. Included by the collector's own files
// only.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "tracer/collect/call_memo.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/content_numbers.h"
#include "traces/model/folded/timeline.h"
#include "traces/api/alloc_fn.h"

namespace gt::tracer {

inline std::vector<uint32_t> steps(const interpose::ThreadPath& path) {
  return {path.step, path.step + std::min(path.depth, interpose::ThreadPath::MostDepth)};
}

struct Collector::Device {
  uint64_t handle = 0;
  uint32_t process = 0;
  std::string name;
  model::DeviceClock clock;  // with timelines
};

struct Collector::Process {
  uint32_t index;
  int64_t pid;
  Objects objects;
  KnownObjects known{objects};
  ModuleMap modules;
  AddressMap<model::SiteId> sites;  // by address; forgotten when modules change
  AddressMap<model::SiteId> chained_sites;  // by the hash of all addresses of a chain; forgotten likewise
  AddressMap<ObjectRef> unknown;    // pointers that nothing explains, by address
  std::unordered_map<uint64_t, Callback> callbacks;  // that may still be called, by the number of their registration
  ContentNumbers contents;  // of its transfers
  uint64_t calls = 0;
  std::map<std::vector<uint32_t>, Thread*> lanes;  // the last thread with each path

  Process(uint32_t i, int64_t p, std::vector<model::Module>& table)
      : index(i), pid(p), modules(table, i, p) {}
  void forget_sites() {
    sites.clear();
    chained_sites.clear();
  }
};

// What of a memory call goes into its shape.
struct MemoryForm {
  uint16_t fn = 0;
  uint16_t present = 0;  // bit i: parameter i is not NULL
  bool made = false, ends_old = false, unfinished = false;
  model::ObjectKind kind = model::ObjectKind::Segment;  // of what it makes
  model::SiteId site = model::NoIndex;
  std::array<model::ClassId, 2> in{model::NoIndex, model::NoIndex};  // of the places given
  model::BlobId label = model::NoIndex;                              // of what it makes
  bool operator==(const MemoryForm&) const = default;
};

struct MemoryCall {
  static constexpr size_t MaxWords = 10;  // parameters, result, and what alloc_hooks.h adds
  bool open = false;
  const api::AllocFnInfo* info = nullptr;
  MemoryForm form;
  std::array<uint64_t, MaxWords> words{};
  uint64_t ticks = 0;               // of its last record
  size_t params = 0, given = 0;     // words that are parameters; words in all
  std::array<Place, 2> places;      // of the parameters that are addresses, in their order
  uint64_t old_size = 0;            // of the memory that it gives back, by that memory's own account
  std::vector<ObjectRef> ended;     // objects that lose their names when it has returned
  uint64_t made = 0, made_bytes = 0;
};

struct Collector::Thread {
  model::ThreadId id;
  Process* process;
  int64_t tid = 0;
  interpose::ThreadPath path;
  bool ended = false;  // another one may come in its place
  uint64_t stack_low = 0, stack_high = 0;
  model::Folder calls, memory;
  std::unique_ptr<model::TimelineBuilder> call_times, memory_times;  // with timelines
  uint64_t memory_since_call = 0;
  uint64_t sequence = 0;       // Enter records seen: pairs DeviceTime records with their calls

  // An annex: a thread of the trace that is none of the machine. Callbacks run in it (callbacks.cc).
  Thread* annex_of = nullptr;    // the thread that registers its callbacks; nullptr: no annex
  std::vector<Thread*> annexes;   // of this one
  bool running = false;         // a callback runs in this annex now...
  Thread* goes_on = nullptr;    // ...in the midst of this one; nullptr: on a thread of the driver
  model::ShapeId callback = model::NoIndex;  // that callback, once it is listed
  uint64_t callback_ticks = 0, callback_stack = 0;

  std::deque<Bytes> external;  // long byte strings that came as chunks, waiting for their call
  Bytes chunk;                 // the one that is still growing

  // The call that was entered and has not returned: numbers, which every call sets back, and lists, which are mostly
  // empty and keep their memory from call to call.
  struct CallFacts {
    bool open = false;
    const api::Attributes* attributes = &api::attributes(0);  // of its function
    uint64_t ticks = 0, stack_pointer = 0, sequence = 0;
    uint64_t bytes = 0;         // moved, or allocated
    uint64_t first_handle = 0;  // the first handle given: the object that the call is about
    uint64_t queue = 0, kernel = 0, device = 0;
    uint32_t timed_queue = model::NoIndex, timed_context = model::NoIndex;  // numbers in TimedObjects
    uint64_t arg_index = 0;           // of the kernel argument that it binds
    api::CreatedMemory made;          // by a create call, when it succeeds
    uint64_t mapped_at = 0;           // where it mapped
    uint64_t unmapped_at = 0;         // where it unmaps...
    api::Mapped unmapped;             // ...and what was there, in case that it fails
    uint32_t program = model::NoIndex;
    model::BlobId text = model::NoIndex;  // the first string given: a kernel's name
    model::BlobId options = model::NoIndex;
    bool error = false;
    bool calls_back = false;     // it was given a function of the program
    ObjectRef callback;          // that it registers
    uint64_t registers = 0;      // number of the callback that it registers
    bool captured = false;       // what it moves was looked at...
    int64_t content = UnknownContent;  // ...and is this
    uint64_t capture_ticks = 0;  // the time that took, which is not the call's
  };
  struct CallLists {
    std::vector<uint64_t> ended;      // mapped or SVM memory that it gives back
    std::vector<uint64_t> pointers;   // SVM in the answer or setting of a query
    std::vector<api::DecodedArg> map_inputs;  // of a map call (their bytes are gone): its outputs tell the rest
    std::vector<Implied> implied;     // see ParamImplied
    std::vector<ObjectRef> launched;  // kernels in a command buffer
    CommandBuffer recorded;           // what it adds to a command buffer, or runs of one
    std::vector<uint32_t> programs;   // all that it names
    std::vector<model::BlobId> headers;                         // names under which it includes programs
    std::vector<std::pair<uint64_t, model::BlobId>> kernel_names;  // of the kernels that it made
    std::vector<std::pair<uint64_t, std::string>> kernel_args;  // what the driver said of them, see kernel_origin.h
    Bytes source;                     // all strings given, when it makes a program

    bool empty() const {
      return ended.empty() && pointers.empty() && map_inputs.empty() && implied.empty() && launched.empty() &&
             recorded.touches.empty() && recorded.launches.empty() && programs.empty() && headers.empty() &&
             kernel_names.empty() && kernel_args.empty() && source.empty();
    }
    void clear() {
      ended.clear();
      pointers.clear();
      map_inputs.clear();
      implied.clear();
      launched.clear();
      recorded.clear();
      programs.clear();
      headers.clear();
      kernel_names.clear();
      kernel_args.clear();
      source.clear();
    }
  };
  struct Pending : CallFacts, CallLists {
    model::Shape shape;
    std::vector<int64_t> values;

    void begin(uint16_t fn, model::SiteId site, model::ThreadId thread) {
      static_assert(std::is_trivially_copyable_v<CallFacts>);
      static_cast<CallFacts&>(*this) = {};
      CallLists::clear();
      open = true;
      attributes = &api::attributes(fn);
      shape.fn = fn;
      shape.site = site;
      shape.thread = thread;
      shape.unfinished = false;
      shape.moves = model::Direction::None;
      shape.args.clear();
      values.clear();
    }
    // An argument without a value: Null or Empty.
    void add_form(uint16_t param, model::ArgForm form) {
      shape.args.push_back({param, form, model::Effect::None, model::NoIndex});
    }
    // One with a value that is no object.
    void add_number(uint16_t param, model::ArgForm form, int64_t value) {
      add_form(param, form);
      values.push_back(value);
    }
    void add_object(uint16_t param, model::Effect effect, ObjectRef object) {
      shape.args.push_back({param, model::ArgForm::Object, effect, object.cls});
      values.push_back(object.slot);
    }
  } pending;

  CallMemos<CallFacts> memos;
  PlaceMemos<CallFacts>* memo_place = nullptr;  // of the call that was entered last; null: it is not kept

  // The memory call that is being taken; `open` while it has been entered and has not returned.
  MemoryCall memory_call;
  std::vector<uint64_t> frames;  // around the site of the memory call that comes next

  // Memory calls come from few places: the last shape of a form skips interning.
  struct Recent {
    MemoryForm form;
    model::ShapeId shape = model::NoIndex;
    model::ClassId out = model::NoIndex;  // of the memory that it makes
  };
  std::array<Recent, 256> recent{};

  // The same for calls that only make a block, or only free one: see take_block().
  struct Block {
    model::SiteId site = model::NoIndex;
    model::ClassId freed = model::NoIndex;  // class of the block; when making one: none
    uint32_t fn = 0;
    model::ShapeId shape = model::NoIndex;
    model::ClassId out = model::NoIndex;
    bool is(model::SiteId s, model::ClassId c, uint16_t f) const { return site == s && freed == c && fn == f; }
  };
  std::array<Block, 256> blocks{};
  Block& block(model::SiteId site, model::ClassId freed, uint16_t fn) {
    return blocks[mix(site ^ uint64_t{fn} << 32, freed) % blocks.size()];
  }

  // What call came after which, the last time: in a loop the same comes again, and interning is a comparison.
  model::ShapeId last_shape = 0;
  std::array<model::ShapeId, 1024> next_shape{};
};

}  // namespace gt::tracer
