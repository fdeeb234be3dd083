#include "tracer/collect/call_recall.h"

#include <algorithm>
#include <cstring>

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

BoundArg bound_value(const Names& names, TracedProcess& process, uint64_t value) {
  const Handle* handle = process.objects.handles.find(value);
  if (!handle) return {};
  const ObjectKind kind = names.kind(handle->object);
  const bool taken = kind == ObjectKind::Buffer || kind == ObjectKind::Image || kind == ObjectKind::Pipe ||
                     kind == ObjectKind::Sampler || kind == ObjectKind::Queue;
  return taken ? BoundArg{handle->object, value} : BoundArg{};
}

// Are its handles and pointers still what they were?
bool CallRecall::still_means(TracedThread& thread, const Memo& memo) {
  TracedProcess& process = *thread.process;
  for (const auto& known : memo.handles) {
    const Handle* handle = process.objects.handles.find(known.value);
    if (!handle || !same(*handle, known.handle)) return false;
  }
  for (const auto& known : memo.places) {
    if (!same(places_.of(thread, known.address), known.place)) return false;
  }
  return !memo.kernel_value || same(bound_value(names_, process, memo.kernel_value->value), memo.kernel_value->bound);
}

const CallRecall::Memo* CallRecall::recall(TracedThread& thread, ByteView inputs) {
  PendingCall& call = thread.pending;
  State& state = states_[thread];
  state.place = nullptr;
  if (!only_uses(*call.attributes) || thread.process->known.any_tied || !thread.external.empty()) return nullptr;
  state.place = &state.memos.at(uint64_t{call.shape.site} << 16 | call.shape.fn);
  auto* memo = state.place->find(inputs);
  if (!memo) return nullptr;
  if (!still_means(thread, *memo)) {
    memo->inputs.clear();
    return nullptr;
  }
  state.place->held();

  const CallFacts now = call;
  static_cast<CallFacts&>(call) = memo->facts;
  call.ticks = now.ticks;
  call.stack_pointer = now.stack_pointer;
  call.sequence = now.sequence;
  call.shape.moves = memo->moves;
  call.shape.args.insert(call.shape.args.end(), memo->args.begin(), memo->args.end());
  call.values.insert(call.values.end(), memo->values.begin(), memo->values.end());
  return memo;
}

void CallRecall::memorise(TracedThread& thread, ByteView inputs, const std::vector<api::DecodedArg>& decoded) {
  const PendingCall& call = thread.pending;
  State& state = states_[thread];
  TracedProcess& process = *thread.process;
  const bool whole = state.place && call.CallLists::empty() && !call.calls_back;
  auto* memo = whole ? state.place->make_room() : nullptr;
  if (!memo) return;
  memo->inputs.clear();  // holds nothing, in case that this call cannot be kept
  memo->handles.clear();
  memo->places.clear();
  memo->kernel_value.reset();
  for (const api::DecodedArg& arg : decoded) {
    const bool kernel_value = arg.param == call.attributes->kernel_value;
    if (arg.tag == api::Tag::Handle) {
      const Handle* handle = process.objects.handles.find(arg.value);
      if (!handle) return;
      memo->handles.push_back({arg.value, *handle});
    } else if (arg.tag == api::Tag::HostPointer || (arg.tag == api::Tag::Raw && arg.value >= 65536)) {
      if (kernel_value || arg.effect == model::Effect::Release) return;
      memo->places.push_back({arg.value, places_.of(thread, arg.value)});
    } else if (arg.tag == api::Tag::Bytes && kernel_value && arg.length == 8) {
      uint64_t value = 0;
      std::memcpy(&value, arg.data.data(), std::min<size_t>(arg.data.size(), 8));
      memo->kernel_value = {value, bound_value(names_, process, value)};
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

bool CallRecall::recall_results(TracedThread& thread, ByteView outputs) {
  PendingCall& call = thread.pending;
  const State& state = states_[thread];
  if (!state.place || !thread.external.empty() || !state.place->returned_before(outputs)) return false;
  const ResultMemo& memo = state.place->results;
  call.shape.args.insert(call.shape.args.end(), memo.args.begin(), memo.args.end());
  call.values.insert(call.values.end(), memo.values.begin(), memo.values.end());
  return true;
}

void CallRecall::memorise_results(TracedThread& thread, ByteView outputs, const std::vector<api::DecodedArg>& decoded,
                                  size_t args, size_t values) {
  const PendingCall& call = thread.pending;
  State& state = states_[thread];
  const auto plain = [](const api::DecodedArg& arg) {
    return arg.tag == api::Tag::Int || arg.tag == api::Tag::Null || arg.tag == api::Tag::Empty;
  };
  if (call.error || !state.place || !std::all_of(decoded.begin(), decoded.end(), plain)) return;
  ResultMemo& memo = state.place->results;
  memo.outputs.assign(outputs.begin(), outputs.end());
  memo.args.assign(call.shape.args.begin() + static_cast<std::ptrdiff_t>(args), call.shape.args.end());
  memo.values.assign(call.values.begin() + static_cast<std::ptrdiff_t>(values), call.values.end());
}

}  // namespace gt::tracer
