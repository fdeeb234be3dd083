// The OpenCL call of a thread that was entered and has not returned.
//
// OpenClCalls begins and ends it, CallNaming finds out what it is; ProgramTexts adds what the driver says of kernels.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracer/collect/content_numbers.h"
#include "tracer/collect/known_objects.h"
#include "tracer/collect/names.h"
#include "traces/api/api.h"
#include "traces/api/decode.h"
#include "tracer/lib/spool.h"
#include "traces/model/fold/event.h"

namespace gt::tracer {

// What is known of it as numbers, which every call sets back.
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
  uint64_t shared_at = 0;           // where the memory lies that it gave to programs and kernels
  uint64_t unmapped_at = 0;         // where it unmaps...
  api::Mapped unmapped;             // ...and what was there, in case that it fails
  uint32_t program = model::NoIndex;
  model::BlobId text = model::NoIndex;  // the first string given: a kernel's name
  model::BlobId options = model::NoIndex;
  model::BlobId il = model::NoIndex;  // what it makes a program from, in an intermediate language
  bool error = false;
  bool calls_back = false;     // it was given a function of the program
};
// One element of what an update of a command buffer says (traces/model/fold/update_param.h).
struct UpdateElement {
  model::ArgForm form;
  Place place;  // of Memory, and of Object without an offset
  int64_t number = 0;
};
// What is known of it as lists, which are mostly empty and keep their memory from call to call.
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
  std::vector<UpdateElement> updates;
  Bytes source;                     // all strings given, when it makes a program

  bool empty() const {
    return ended.empty() && pointers.empty() && map_inputs.empty() && implied.empty() && launched.empty() &&
           recorded.touches.empty() && recorded.launches.empty() && programs.empty() && headers.empty() &&
           kernel_names.empty() && kernel_args.empty() && updates.empty() && source.empty();
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
    updates.clear();
    source.clear();
  }
};
// What calls register: written by RegisteredCallbacks.
struct CallRegistration {
  uint64_t number = 0;  // 0: the call registers nothing
  ObjectRef callback;
};
// What the device held before or after a call.
struct DeviceContent {
  SharedKind kind = SharedKind::Object;
  uint64_t address = 0;  // a handle, or where an allocation begins
  int64_t number = UnknownContent;
};
// What the recorder saw of the data that a call moves: written by OpenClCalls.
struct CallContent {
  bool captured = false;          // it was looked at...
  int64_t number = UnknownContent;  // ...and is this
  uint64_t ticks = 0;             // the time that took, which is not the call's
  // Of memory that it may read: address, number.
  std::vector<std::pair<uint64_t, int64_t>> shared;
  bool chosen = false;  // it is one of those whose data is kept, where not all is
  std::vector<DeviceContent> device;

  void clear() {
    chosen = false;
    device.clear();
    captured = false;
    number = UnknownContent;
    ticks = 0;
    shared.clear();
  }
};

// What the recorder saw of memory that the call moves: written by OpenClCalls.
struct CallFresh {
  uint64_t bytes = 0;  // 0: it did not look
  uint64_t fresh = 0;  // of them, without a page
  uint64_t ticks = 0;  // the time that looking took, which is not the call's
};

struct PendingCall : CallFacts, CallLists {
  CallRegistration registration;
  CallContent content;
  CallFresh fresh;
  model::Shape shape;
  std::vector<int64_t> values;

  void begin(uint16_t fn, model::SiteId site, model::ThreadId thread) {
    static_assert(std::is_trivially_copyable_v<CallFacts>);
    static_cast<CallFacts&>(*this) = {};
    CallLists::clear();
    registration = {};
    content.clear();
    fresh = {};
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
  // What did not succeed has moved nothing.
  void end(bool unfinished) {
    if (unfinished || error) shape.moves = model::Direction::None, bytes = 0;
    open = false;
    shape.unfinished = unfinished;
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
  void add_place(uint16_t param, model::Effect effect, const Place& place) {
    shape.args.push_back({param, model::ArgForm::Memory, effect, place.object.cls});
    values.push_back(place.object.slot);
    values.push_back(static_cast<int64_t>(place.offset));
  }
};

}  // namespace gt::tracer
