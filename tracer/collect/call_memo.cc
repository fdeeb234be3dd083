// Calls that are made again: what may be kept of a call, and when it still holds.
#include "tracer/collect/call_memo.h"

#include <algorithm>

#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"

namespace gt::tracer {

using model::ObjectKind;

namespace {

// Calls that change what later ones mean, or whose meaning is more than their arguments'.
bool only_uses(const api::Attributes& a) {
  return a.creates == ObjectKind::Unknown && a.releases == ObjectKind::Unknown && a.retains == ObjectKind::Unknown &&
         a.direction == api::DirectionRule::Fixed && !a.records && a.replays < 0 && a.updates < 0 && a.source < 0 &&
         a.options < 0 && a.headers < 0 && a.image < 0 && a.whole < 0;
}

bool same(const Handle& a, const Handle& b) {
  return a.object == b.object && a.device == b.device && a.timed == b.timed && a.timed_context == b.timed_context &&
         a.program == b.program;
}
bool same(const BoundArg& a, const BoundArg& b) { return a.object == b.object && a.handle == b.handle; }
bool same(const Place& a, const Place& b) { return a.object == b.object && a.offset == b.offset && a.found == b.found; }

static_assert(sizeof(model::SiteId) == 4 && sizeof(model::FnId) == 2);  // both fit a place's key
}  // namespace

// Are its handles and pointers still what they were?
template <class Memo>
bool Collector::still_means(Thread& thread, const Memo& memo) {
  Process& process = *thread.process;
  for (const auto& known : memo.handles) {
    const Handle* handle = process.objects.handles.find(known.value);
    if (!handle || !same(*handle, known.handle)) return false;
  }
  for (const auto& known : memo.places) {
    if (!same(place_of(thread, known.address), known.place)) return false;
  }
  return !memo.kernel_value || same(bound_value(process, memo.kernel_value->value), memo.kernel_value->bound);
}

// The call that has just begun is one that is known: it gets what was found out then. False: it is not, or its objects
// have changed.
bool Collector::recall(Thread& thread, ByteView inputs) {
  Thread::Pending& call = thread.pending;
  thread.memo_place = nullptr;
  if (!only_uses(*call.attributes) || thread.process->known.any_tied || !thread.external.empty()) return false;
  thread.memo_place = &thread.memos.at(uint64_t{call.shape.site} << 16 | call.shape.fn);
  auto* memo = thread.memo_place->find(inputs);
  if (!memo) return false;
  if (!still_means(thread, *memo)) {
    memo->inputs.clear();
    return false;
  }
  thread.memo_place->held();

  const Thread::CallFacts now = call;
  static_cast<Thread::CallFacts&>(call) = memo->facts;
  call.ticks = now.ticks;
  call.stack_pointer = now.stack_pointer;
  call.sequence = now.sequence;
  call.shape.moves = memo->moves;
  call.shape.args.insert(call.shape.args.end(), memo->args.begin(), memo->args.end());
  call.values.insert(call.values.end(), memo->values.begin(), memo->values.end());
  if (call.attributes->kernel_value >= 0)
    bind_kernel_arg(thread, memo->kernel_value ? memo->kernel_value->bound : BoundArg{});
  if (call.attributes->launch) before_call(thread);
  return true;
}

// REQUIRES: decoded_ are the inputs, and they were named; what changes from call to call was not added yet.
void Collector::memorise(Thread& thread, ByteView inputs) {
  Thread::Pending& call = thread.pending;
  Process& process = *thread.process;
  const bool whole = thread.memo_place && call.CallLists::empty() && !call.calls_back;
  auto* memo = whole ? thread.memo_place->make_room() : nullptr;
  if (!memo) return;
  memo->inputs.clear();  // holds nothing, in case that this call cannot be kept
  memo->handles.clear();
  memo->places.clear();
  memo->kernel_value.reset();
  for (const api::DecodedArg& arg : decoded_) {
    const bool kernel_value = arg.param == call.attributes->kernel_value;
    if (arg.tag == api::Tag::Handle) {
      const Handle* handle = process.objects.handles.find(arg.value);
      if (!handle) return;
      memo->handles.push_back({arg.value, *handle});
    } else if (arg.tag == api::Tag::HostPointer || (arg.tag == api::Tag::Raw && arg.value >= 65536)) {
      if (kernel_value || arg.effect == model::Effect::Release) return;
      memo->places.push_back({arg.value, place_of(thread, arg.value)});
    } else if (arg.tag == api::Tag::Bytes && kernel_value && arg.length == 8) {
      uint64_t value = 0;
      std::memcpy(&value, arg.data.data(), std::min<size_t>(arg.data.size(), 8));
      memo->kernel_value = {value, bound_value(process, value)};
    } else if (arg.tag == api::Tag::Code) {
      return;
    }
  }
  memo->facts = call;
  memo->args.assign(call.shape.args.begin() + 1, call.shape.args.end());
  memo->values.assign(call.values.begin() + 1, call.values.end());
  memo->moves = call.shape.moves;
  memo->inputs.assign(inputs.begin(), inputs.end());
}

// What the open call returned, when that is nothing but numbers that it has returned before.
bool Collector::recall_results(Thread& thread, ByteView outputs) {
  Thread::Pending& call = thread.pending;
  if (!thread.memo_place || !thread.external.empty() || !thread.memo_place->returned_before(outputs)) return false;
  const ResultMemo& memo = thread.memo_place->results;
  call.shape.args.insert(call.shape.args.end(), memo.args.begin(), memo.args.end());
  call.values.insert(call.values.end(), memo.values.begin(), memo.values.end());
  return true;
}

// REQUIRES: decoded_ are the outputs, and they were named as what comes after `args` and `values` of the call.
void Collector::memorise_results(Thread& thread, ByteView outputs, size_t args, size_t values) {
  Thread::Pending& call = thread.pending;
  const auto plain = [](const api::DecodedArg& arg) {
    return arg.tag == api::Tag::Int || arg.tag == api::Tag::Null || arg.tag == api::Tag::Empty;
  };
  if (call.error || !thread.memo_place || !std::all_of(decoded_.begin(), decoded_.end(), plain)) return;
  ResultMemo& memo = thread.memo_place->results;
  memo.outputs.assign(outputs.begin(), outputs.end());
  memo.args.assign(call.shape.args.begin() + static_cast<std::ptrdiff_t>(args), call.shape.args.end());
  memo.values.assign(call.values.begin() + static_cast<std::ptrdiff_t>(values), call.values.end());
}

}  // namespace gt::tracer
