// Calls that are made again: what may be kept of a call (call_memo.h), and when it still holds.
//
// Thread safety: none. Cost: a comparison of the inputs, and a look-up of each handle and pointer among them; instead
// of decoding and naming them.
#pragma once

#include <vector>

#include "tracer/collect/call_memo.h"
#include "tracer/collect/places.h"
#include "tracer/collect/trace_tables.h"
#include "tracer/collect/traced_thread.h"
#include "traces/api/decode.h"

namespace gt::tracer {

// What clSetKernelArg binds by this value: nothing known, when that is no live handle of a kind that kernels take.
BoundArg bound_value(const Names& names, TracedProcess& process, uint64_t value);

class CallRecall {
 public:
  using Memo = CallMemo<CallFacts>;
  CallRecall(TraceTables& tables, Places& places) : names_(tables.names), places_(places) {}  // which must outlive it

  // The call that has just begun is one that is known: it gets what was found out then. nullptr: it is not, or its
  // objects have changed.
  const Memo* recall(TracedThread& thread, ByteView inputs);
  // REQUIRES: the inputs were decoded and named; what changes from call to call was not added yet.
  void memorise(TracedThread& thread, ByteView inputs, const std::vector<api::DecodedArg>& decoded);

  // What the open call returned, when that is nothing but numbers that it has returned before.
  bool recall_results(TracedThread& thread, ByteView outputs);
  // REQUIRES: the outputs were decoded, and named as what comes after `args` and `values` of the call.
  void memorise_results(TracedThread& thread, ByteView outputs, const std::vector<api::DecodedArg>& decoded,
                        size_t args, size_t values);

 private:
  struct State {
    CallMemos<CallFacts> memos;
    PlaceMemos<CallFacts>* place = nullptr;  // of the call that was entered last; null: it is not kept
  };
  bool still_means(TracedThread& thread, const Memo& memo);

  Names& names_;
  Places& places_;
  PerThread<State> states_;
};

}  // namespace gt::tracer
