// The recorder: writes one thread's records into its ring.
//
// Lives in the program's process. It allocates nothing, takes no lock, and never fails visibly:
// when there is no spool, no ring or no collector any more, record() gives nothing and the program
// goes on unrecorded. Invariant: between reserve() and commit() no other record of this thread is
// begun (Reentry and busy_ see to it). Thread safety: all functions act on the calling thread's
// ring. Cost: reserve and commit are inline; everything rare is in recorder.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/lib/ring.h"
#include "tracer/lib/solitude.h"
#include "tracer/lib/ticks.h"

namespace gt::tracer {

extern __thread Ring* t_ring __attribute__((tls_model("initial-exec")));

// Finds the spool from the environment and maps it. Called once per process image; safe to call
// again.
void start_recording();

namespace detail {
extern SpoolHeader*
    g_spool;            // nullptr: no spool. Set once, before any thread but the first can record
extern bool g_stopped;  // for this process, for good
}  // namespace detail

inline const SpoolHeader* spool() { return detail::g_spool; }
inline bool recording() {
  return detail::g_spool && !detail::g_stopped &&
         detail::g_spool->off.load(std::memory_order_relaxed) == 0;
}
inline bool recording_memory() { return recording() && detail::g_spool->record_memory; }

Ring* claim_ring();  // slow path of this_ring(); nullptr when the thread cannot record
bool wait_for_space(Ring& ring, uint64_t bytes);  // false: the collector is gone, recording is off

inline Ring* this_ring() {
  Ring* ring = t_ring;
  return __builtin_expect(ring != nullptr, 1) ? ring : claim_ring();
}

// Space for a record of `bytes` (a multiple of 8, at most MaxRecordBytes + 64), its header filled
// in; or nullptr. REQUIRES: `when` was read just now.
inline uint8_t* reserve(Ring& ring, RecordType type, uint16_t fn, uint32_t bytes, uint64_t when) {
  if (__builtin_expect(ring.busy, 0)) {
    ring.header->unrecorded.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  look_around(*detail::g_spool, ring, when);
  ring.busy = true;
  std::atomic_signal_fence(
      std::memory_order_seq_cst);  // a handler sees busy before we read position
  const uint64_t to_end = ring.mask + 1 - (ring.position & ring.mask);
  const uint64_t needed = bytes <= to_end ? bytes : to_end + bytes;
  if (__builtin_expect(ring.position + needed > ring.limit, 0) && !wait_for_space(ring, needed)) {
    ring.busy = false;
    return nullptr;
  }
  if (__builtin_expect(bytes > to_end, 0)) {
    auto* pad = reinterpret_cast<RecordHeader*>(ring.data + (ring.position & ring.mask));
    // The end of the ring may have room for half a header only: its first word says enough.
    pad->bytes = static_cast<uint32_t>(to_end);
    pad->type = RecordType::Pad;
    pad->fn = 0;
    ring.position += to_end;
  }
  uint8_t* at = ring.data + (ring.position & ring.mask);
  *reinterpret_cast<RecordHeader*>(at) = RecordHeader{bytes, type, fn, when};
  return at + sizeof(RecordHeader);
}

inline void commit(Ring& ring, uint32_t bytes) {
  ring.position += bytes;
  ring.header->head.store(ring.position, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  ring.busy = false;
}

// A record of fixed words.
template <class... Words>
inline void record(RecordType type, uint16_t fn, uint64_t when, Words... words) {
  Ring* ring = this_ring();
  if (!ring) return;
  constexpr uint32_t Bytes = sizeof(RecordHeader) + 8 * sizeof...(Words);
  uint8_t* at = reserve(*ring, type, fn, Bytes, when);
  if (!at) return;
  auto* out = reinterpret_cast<uint64_t*>(at);
  ((*out++ = static_cast<uint64_t>(words)), ...);
  commit(*ring, Bytes);
}

// A record whose payload is a few words and then bytes (padded). REQUIRES: this thread has a ring.
void record_text(RecordType type, uint64_t a, uint64_t b, const char* text, size_t length);

// Modules loaded since the last time, as Module records. Cheap when nothing was loaded.
void record_modules();

}  // namespace gt::tracer
