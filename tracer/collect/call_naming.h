// The naming half of OpenCL calls: from encoded arguments to a shape and its values, and what a call means for later
// ones.
//
// Inputs are named when a call is entered, outputs when it returns; what a call releases loses its name on entry, what
// it creates gets one on return. So a name is never given to two live objects, whatever threads do meanwhile.
// Sources: call_naming.cc (arguments, handles), call_effects.cc (references, kernel arguments, mappings, transfers),
// implied.cc (what calls touch without naming it).
// Thread safety: none. Cost: a call that was made before comes to some look-ups (call_recall.h).
#pragma once

#include <vector>

#include "tracer/collect/call_recall.h"
#include "tracer/collect/devices.h"
#include "tracer/collect/places.h"
#include "tracer/collect/program_texts.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"
#include "traces/api/decode.h"
#include "traces/api/command_update.h"

namespace gt::tracer {

// What a callback was registered for. It may be released before it calls back.
struct CallbackSubject {
  uint64_t handle = 0;
  ObjectRef object;  // its name at that time
};

class CallNaming {
 public:
  // All must outlive it.
  CallNaming(TraceTables& tables, Places& places, ProgramTexts& texts, Devices& devices)
      : tables_(tables), names_(tables.names), places_(places), texts_(texts), devices_(devices),
        recall_(tables, places) {}

  // The pending call has just begun, and has these inputs; `whole`: they are all there. False: they do not decode.
  bool enter(TracedThread& thread, ByteView inputs, bool whole);
  // It returns with these outputs. False: they do not decode.
  bool leave(TracedThread& thread, ByteView outputs);
  // It has returned: what that means for later calls.
  void after_call(TracedThread& thread);

  // The pending call may read memory that begins there, which has this content.
  void add_shared(TracedThread& thread, uint64_t address, int64_t content) {
    thread.pending.add_place(model::ParamSharedContent, model::Effect::Use, places_.of(thread, address));
    thread.pending.add_number(model::ParamSharedContent, model::ArgForm::Int, content);
  }

  // What the pending call changes in command buffers.
  void add_updates(TracedThread& thread);

  void add_device_content(TracedThread& thread, const DeviceContent& content);

  // What a callback is given, whose call is pending in its callback thread. nullptr: it is not known what it was
  // registered for.
  // False: it does not decode.
  bool name_given(TracedThread& callback_thread, ByteView inputs, const CallbackSubject* subject);

  // What the recorder says of the pending call besides its arguments. False: the record makes no sense.
  bool take_command_arg(TracedThread& thread, const RecordView& record);
  bool take_memory_facts(TracedThread& thread, const RecordView& record);

 private:
  // One decoded argument of the pending call: appended to its shape and values.
  void name_argument(TracedThread& thread, const api::DecodedArg& arg, bool output);
  void name_bytes(TracedThread& thread, const api::DecodedArg& arg, bool output);
  ObjectRef name_handle(TracedThread& thread, const api::DecodedArg& arg, bool output);
  ObjectRef create_handle(TracedThread& thread, const api::DecodedArg& arg);
  void release_handle(TracedThread& thread, uint64_t handle);
  void drop_handle(TracedThread& thread, uint64_t handle);

  void before_call(TracedThread& thread);  // what the inputs of some calls mean for later ones
  void note_pointer(TracedThread& thread, const api::DecodedArg& arg);
  void name_kernel_arg(TracedThread& thread, const api::DecodedArg& arg);
  void name_returned_memory(TracedThread& thread, const api::DecodedArg& arg);
  void bind_kernel_arg(TracedThread& thread, const BoundArg& arg);
  void add_bound_args(TracedThread& thread);
  bool ends_memory(TracedThread& thread, const api::DecodedArg& arg);
  const Memory* given_back(TracedThread& thread, const api::DecodedArg& arg);
  void end_memory(TracedThread& thread, uint64_t base);
  void note_mapping(TracedThread& thread);

  // Something of a command that changes: the words of a CommandArg record.
  struct Change {
    api::UpdatePart part;
    uint64_t index, size;
    CommandArgForm form;
    uint64_t value;
    ByteView bytes;
  };
  UpdateElement name_change(TracedThread& thread, const Change& change);
  model::Effect touch(TracedThread& thread, uint64_t handle, ObjectRef object, model::Effect effect);
  void imply(TracedThread& thread, const Implied& touched);
  void add_implied(TracedThread& thread);
  void replay_commands(TracedThread& thread);
  void record_command(TracedThread& thread);

  TraceTables& tables_;
  Names& names_;
  Places& places_;
  ProgramTexts& texts_;
  Devices& devices_;
  CallRecall recall_;
  std::vector<api::DecodedArg> decoded_;  // the arguments that are being named
};

}  // namespace gt::tracer
