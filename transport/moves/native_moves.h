// Contents from one device of this process to another: through slots in which the next chunks arrive while one is taken
// out (move_slots.h). The drivers are called directly, in queues of our own.
//
// The slots are pinned host memory, made with the first move that needs them. Between NVIDIA's devices that reach each
// other they are in the devices' memory (peer_slots.h), once moves have taken so long that setting it up is worth it: a
// thread does that and tries it (peer_trial.h). When such a move fails, or they turn out slower than what the trial
// measured for the others, pinned memory is used again. A device that was busy may have made them slower: where they
// were right they are tried again after ten times as long. For a buffer that goes to and fro often the caller may have
// peer-mapped allocations made on both devices: memory of the slots' kind that it lives in from then on. Its moves are
// one step.
// Thread safety: any thread. move() and copy_at_source() take turns; make_peer_mapped() and peer_from() wait for who is
// at it, too, has_looked() does not. Destroyed when nobody uses it any more: that waits for the thread that looks.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "traces/base/mutex.h"
#include "transport/copy/chunks.h"
#include "transport/moves/peer_slots.h"
#include "transport/moves/peer_trial.h"

namespace gt::moves {

class NativeMoves {
 public:
  using End = MoveEnd;
  struct PeerOptions {
    const cuda::Functions* (*driver)() = cuda::driver;
    uint64_t after_ns = 100'000'000;  // of moves through pinned memory, about as long as it takes to set up
    uint64_t retry_factor = 10;       // so many times as long until what was slower is tried again
    bool even_slower = false;         // whatever the trial says of their speed: to measure them
  };

  NativeMoves(End from, End to) : NativeMoves(from, to, PeerOptions()) {}
  NativeMoves(End from, End to, PeerOptions peers)
      : from_(from), to_(to), peers_(peers), look_at_ns_(peers.after_ns) {}
  ~NativeMoves();
  NativeMoves(const NativeMoves&) = delete;
  NativeMoves& operator=(const NativeMoves&) = delete;

  struct Moved {
    cl_int code;
    bool by_devices = false;  // themselves, without the host's memory
  };
  // What is moved, at one end. peer_mapped: nullptr, or what a buffer lives in.
  struct Held {
    Held(cl_mem m, PeerMemory* h = nullptr) : mem(m), peer_mapped(h) {}  // NOLINT: most are not
    cl_mem mem;
    PeerMemory* peer_mapped;
  };
  // It had better be waited for by who needs it: telling a thread of it would take longer.
  static bool is_small(const Held& from, const Held& to, size_t bytes) {
    return bytes <= (from.peer_mapped && to.peer_mapped ? SmallPeerMappedMove : SmallMove);
  }
  // Copies a part, of elements of so many bytes (1: of a buffer), and returns when it is there. REQUIRES: nothing under
  // way writes `from` or uses `to`, and the caller keeps both. After an error the contents are still at `from`.
  Moved move(const Held& from, const Held& to, const copy::Region& part, size_t element);

  // Memory for a buffer of so many bytes to live in, on the device that is moved from or to. nullptr: contents do not
  // go by themselves (yet), there is no room, or it would be too much.
  enum class Side { From, To };
  std::shared_ptr<PeerMemory> make_peer_mapped(Side side, size_t bytes);
  static constexpr size_t LargestPeerMapped = size_t{16} << 20;
  // From buffer to buffer of the source, as move(): to move in.
  cl_int copy_at_source(cl_mem from, cl_mem to, size_t bytes);

  // From how many bytes on moves go from device to device by themselves; 0: they do not (yet).
  size_t peer_from();
  // Whoever looked for that has ended.
  bool has_looked() const { return has_looked_; }

 private:
  static constexpr size_t SmallMove = size_t{1} << 20;  // at once: a chunk more costs as much as overlapping it gains
  static constexpr size_t SmallPeerMappedMove = size_t{4} << 20;  // takes no longer
  static constexpr size_t Slots = 8;
  static constexpr size_t LargestChunk = size_t{4} << 20, FewestChunks = 4;
  // Each of a hop's three steps takes some 10 us before its first byte, and all are fast.
  static constexpr size_t LargestHop = size_t{16} << 20, SmallestHop = size_t{8} << 20, FewestHops = 2;
  static constexpr size_t PeerBytes = Slots * SmallestHop;
  // On each device, with peer-mapped allocations.
  static constexpr size_t MostPeerBytes = PeerBytes + (size_t{256} << 20);
  bool open_queues() GT_REQUIRES(mutex_);
  cl_int move_pinned(cl_mem from, cl_mem to, const copy::Region& part, size_t element, size_t bytes)
      GT_REQUIRES(mutex_);
  bool lives_there(const Held& from, const Held& to) const GT_REQUIRES(mutex_);
  cl_int move_by_peer(MoveSlots& slots, cl_mem from, cl_mem to, const copy::Region& part, size_t element, size_t bytes)
      GT_REQUIRES(mutex_);
  cl_int copy_at_once(char* memory, cl_mem from, cl_mem to, const copy::Region& part) GT_REQUIRES(mutex_);
  cl_int copy(MoveSlots& slots, const copy::Chunks& chunks, cl_mem from, cl_mem to, size_t slot_bytes)
      GT_REQUIRES(mutex_);
  void watch(size_t bytes, uint64_t took_ns) GT_REQUIRES(mutex_);
  void look_for_peer() GT_REQUIRES(mutex_);
  void look_again_later() GT_REQUIRES(mutex_);
  void join_finder();
  static void* find_peer(void* self);
  enum class Outcome { Found, Slower, Impossible };
  Outcome find_peer();
  std::shared_ptr<PeerDevice> device_at(Side side);

  const End from_, to_;
  const PeerOptions peers_;
  Mutex mutex_;
  cl_command_queue read_queue_ GT_GUARDED_BY(mutex_) = nullptr, write_queue_ GT_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<PinnedSlots> small_ GT_GUARDED_BY(mutex_), large_ GT_GUARDED_BY(mutex_);
  std::unique_ptr<PeerSlots> peer_ GT_GUARDED_BY(mutex_);
  PeerVerdict verdict_ GT_GUARDED_BY(mutex_);
  // Moves that were slower than they would have been, less those that were not.
  unsigned late_ GT_GUARDED_BY(mutex_) = 0;
  static constexpr uint64_t Never = ~uint64_t{0};
  uint64_t moved_ns_ GT_GUARDED_BY(mutex_) = 0;  // through pinned memory
  uint64_t look_at_ns_ GT_GUARDED_BY(mutex_);    // of that: when to look for a peer
  uint64_t look_took_ns_ GT_GUARDED_BY(mutex_) = 0;

  std::weak_ptr<PeerDevice> devices_[2];  // the finder's: as long as slots or peer-mapped allocations are there
  pthread_t finder_{};
  pid_t found_in_ = 0;  // the process whose thread that is; 0: there is none
  std::atomic<bool> closing_{false}, has_looked_{false};
};

}  // namespace gt::moves
