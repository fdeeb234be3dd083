// What happens to an OpenCL call of the program: read this first.
//
//   program ──► exported wrapper ──► traced<F>() ──► Enter record ──► the real function ──► Exit
//   record ──► program
//
// 1. Calls made by the driver, by us, or with recording off go straight to the real function.
// 2. The Enter record (site, stack pointer, encoded inputs) is committed before the driver is
// entered, so that a call
//    that never returns is in the trace.
// 3. Commands that are to be timed (sampling.h) get an event if the program gave none (device_time.h).
// 4. Functions that the driver will call back are replaced by ours (callbacks.h).
// 5. The Exit record carries the result and what was written through output parameters.
// The real function is called exactly once, with what amounts to the program's own arguments,
// whatever happens to the records. Thread safety: any thread. Nothing is shared but the spool's per-thread rings. Cost:
// <= 6 ns when off; <= 150 ns when recording (tests/bench/call_overhead.cc).
#pragma once

#include <CL/cl.h>

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracer/lib/callbacks.h"
#include "tracer/lib/contents.h"
#include "tracer/lib/device_time.h"
#include "tracer/lib/fresh_memory.h"
#include "tracer/lib/memory_facts.h"
#include "tracer/lib/mutable_update.h"
#include "tracer/lib/real_calls.h"
#include "tracer/lib/ring_writer.h"
#include "tracer/lib/shared_calls.h"
#include "traces/api/encode.h"
#include "traces/api/table.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

using api::FnId;

extern __thread void* t_closure_target
    __attribute__((tls_model("initial-exec")));  // extension_closure.h

// The function to call for F: the real one, except for the few whose arguments or results must be
// adapted so that the program does not notice profiling (adapted.cc).
template <FnId F, class R, class... A>
R call_real(A... args) {
  auto function = real<R(A...)>(F);
  if constexpr (api::Fn<F>::attributes.extension) {
    if (void* target = std::exchange(t_closure_target, nullptr))
      function = reinterpret_cast<R (*)(A...)>(target);
  }
  if (__builtin_expect(function == nullptr, 0)) return api::missing_result<F, R>(args...);
  return function(args...);
}

void prepare();  // once per process, at its first OpenCL call: modules, real library
extern bool g_prepared;

namespace detail {

// Index of the last parameter of type cl_event* (where an enqueue returns its event); -1 when there
// is none.
template <class... A>
constexpr int event_param() {
  int found = -1, i = 0;
  ((found = std::is_same_v<A, cl_event*> ? i : found, ++i), ...);
  return found;
}

template <FnId F, class... A>
void record_enter(Ring& ring, const void* site, const void* stack, A... args) {
  SizeWriter size;
  api::encode_inputs<F, api::Contents::None>(size, args...);
  const bool brief = __builtin_expect(size.size() > MaxRecordBytes, 0);
  if (brief) {
    size = SizeWriter(true);
    api::encode_inputs<F, api::Contents::None>(size, args...);
  }
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader)) + 16 + size.size();
  uint8_t* at = reserve(ring, RecordType::Enter, api::number(F), bytes, ticks_after_loads());
  if (!at) return;
  RingWriter out(at, brief);
  out.word(reinterpret_cast<uint64_t>(site));
  out.word(reinterpret_cast<uint64_t>(stack));
  api::encode_inputs<F, api::Contents::None>(out, args...);
  commit(ring, bytes);
  ++ring.calls;
  if constexpr (constexpr int Updates = api::Fn<F>::attributes.updates; Updates >= 0)
    record_update(api::number(F), std::get<static_cast<size_t>(Updates)>(std::tuple<A...>(args...)));
  choose_before<F>(ring, args...);
  capture_before<F>(args...);
  share_before<F>(args...);
  note_fresh<F>(args...);
}

template <FnId F, class Encode>
void write_exit(Ring& ring, bool timed, uint64_t now, Encode encode) {
  SizeWriter size;
  encode(size);
  const auto bytes = static_cast<uint32_t>(sizeof(RecordHeader)) + size.size();
  uint8_t* at =
      reserve(ring, timed ? RecordType::ExitTimed : RecordType::Exit, api::number(F), bytes, now);
  if (!at) return;
  RingWriter out(at);
  encode(out);
  commit(ring, bytes);
}

template <FnId F, class R, class... A>
void record_exit(Ring& ring, bool timed, R result, A... args) {
  capture_after<F>(result, args...);
  share_after<F>(result, args...);
  follow_after<F>(result, args...);
  if constexpr (says_no_size<F>()) {
    if (result) record_memory_facts(api::number(F), result, api::Fn<F>::attributes.creates == api::ObjectKind::Image);
  }
  write_exit<F>(ring, timed, ticks(), [&](auto& writer) {
    api::encode_outputs<F, api::Contents::None>(writer, result, args...);
  });
}

// What tells the commands of one call site apart for sampling: the kernel, the order of magnitude of the size (in every
// function of buffers the last number given by value).
template <class... A>
uint64_t work_of(A... args) {
  uint64_t work = 0;
  const auto look = [&](auto arg) {
    if constexpr (std::is_same_v<decltype(arg), cl_kernel>) work = reinterpret_cast<uint64_t>(arg);
    if constexpr (std::is_same_v<decltype(arg), size_t>) work = static_cast<uint64_t>(std::bit_width(arg));
  };
  (look(args), ...);
  return work;
}

// What a launch wrote is wanted, which is known when its event is over.
template <FnId F, class... A>
bool reads_back() {
  if constexpr (api::Fn<F>::attributes.launch && enqueues<F, A...>()) return follows_kernels() && reading_back();
  return false;
}

// A command with device time (where there is a queue to time it by), or of which more is to be known when it is over:
// the program's event, or one of ours in its place.
template <FnId F, class R, class... A>
R evented_call(Ring& ring, WatchedQueue* queue, uint32_t sample, A... args) {
  constexpr int E = event_param<A...>();
  std::tuple<A...> call(args...);
  cl_event own = nullptr;
  const bool ours = std::get<static_cast<size_t>(E)>(call) == nullptr;
  if (ours) std::get<static_cast<size_t>(E)>(call) = &own;
  const uint64_t sequence = ring.calls - 1;
  R result = [&] {
    if (!queue) return std::apply([](auto... a) { return call_real<F, R>(a...); }, call);
    const Profiled profiled(*queue);
    return std::apply([](auto... a) { return call_real<F, R>(a...); }, call);
  }();
  const bool enqueued = api::succeeded(result);
  if (!enqueued && ours) drop_event_of_error(std::get<0>(call), own);
  cl_event event = enqueued ? *std::get<static_cast<size_t>(E)>(call) : nullptr;
  if constexpr (api::Fn<F>::attributes.launch && enqueues<F, A...>()) {
    if (event && reads_back<F, A...>()) record_written(api::number(F), std::get<0>(call), std::get<1>(call), event);
  }
  record_exit<F>(ring, queue && event, result, args...);
  if (event && !(queue && track(*queue, event, ours, sequence, sample)) && ours) {
    if (auto release = real<decltype(clReleaseEvent)>(FnId::clReleaseEvent)) release(event);
  }
  return result;
}

// Calls after which commands are known to be complete: a good moment to read their times.
template <FnId F, class... A>
void harvest_after(A... args) {
  constexpr api::Attributes attributes = api::Fn<F>::attributes;
  if constexpr (attributes.waits || attributes.releases == api::ObjectKind::Queue ||
                attributes.releases == api::ObjectKind::Context) {
    harvest_all();
  } else if constexpr (attributes.blocking >= 0) {
    std::tuple<A...> call(args...);
    if (std::get<static_cast<size_t>(attributes.blocking)>(call)) harvest(std::get<0>(call));
  }
}

// A query that does not ask for the size of its answer is asked for it all the same, so that the
// record has no more bytes than the answer (SizeProbe); the program's buffers are filled by the
// driver itself.
template <FnId F, class R, size_t... I, class... A>
R plain_call(Ring& ring, std::index_sequence<I...>, A... args) {
  [[maybe_unused]] api::SizeProbe<F> probe(args...);
  std::tuple<A...> call(probe.template pass<I>(args)...);
  R result = std::apply([](auto... a) { return call_real<F, R>(a...); }, call);
  std::apply([&](auto... a) { record_exit<F>(ring, false, result, a...); }, call);
  harvest_after<F>(args...);
  return result;
}

template <FnId F, class R, class... A>
R registering_call(Ring& ring, A... args) {
  std::tuple<A...> call(args...);
  Registering registering;
  registering.replace<F>(ring, call);
  R result = std::apply([](auto... a) { return call_real<F, R>(a...); }, call);
  if (!api::succeeded(result)) registering.refused();
  if constexpr (std::is_same_v<R, cl_context>) registering.made(result);
  record_exit<F>(ring, false, result, args...);
  harvest_after<F>(args...);
  return result;
}

}  // namespace detail

template <FnId F, class R, class... A>
R traced(const void* site, const void* stack, A... args) noexcept {
  if (__builtin_expect(!recording() || t_flags.inside != 0, 0)) return call_real<F, R>(args...);
  const Reentry guard;
  if (!g_prepared) prepare();
  Ring* ring = this_ring();
  if (!ring) return call_real<F, R>(args...);

  constexpr api::Attributes attributes = api::Fn<F>::attributes;
  detail::record_enter<F>(*ring, site, stack, args...);
  if constexpr ((attributes.launch || attributes.transfer != api::Transfer::None) &&
                detail::event_param<A...>() > 0) {
    if (timing_wanted(attributes.launch)) {
      if (WatchedQueue* queue = watched_queue(std::get<0>(std::tuple<A...>(args...)))) {
        const uint32_t sample = sample_of(*ring, site, detail::work_of(args...));
        if (due(sample)) {
          R result = detail::evented_call<F, R>(*ring, queue, sample, args...);
          detail::harvest_after<F>(args...);
          return result;
        }
      }
    }
    if (detail::reads_back<F, A...>()) return detail::evented_call<F, R>(*ring, nullptr, 0, args...);
  }
  if constexpr (detail::callback_param<F>() >= 0) {
    return detail::registering_call<F, R>(*ring, args...);
  } else if constexpr (std::is_void_v<R>) {
    call_real<F, R>(args...);
    detail::write_exit<F>(*ring, false, ticks(), [](auto&) {});
  } else {
    return detail::plain_call<F, R>(*ring, std::index_sequence_for<A...>{}, args...);
  }
}

}  // namespace gt::tracer
