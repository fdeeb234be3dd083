#include "transport/moves/native_moves.h"

#include <algorithm>

#include "traces/base/clock.h"
#include "transport/copy/command.h"
#include "transport/staging/thread.h"

namespace gt::moves {
namespace {

// The event of a slot's last command.
class Pending {
 public:
  explicit Pending(const ClFunctions& cl) : cl_(cl) {}
  ~Pending() { wait(); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  cl_event* set() { return &event_; }  // REQUIRES: none is pending
  cl_int wait() {
    if (!event_) return CL_SUCCESS;
    const cl_int code = cl_.clWaitForEvents(1, &event_);
    cl_.clReleaseEvent(event_);
    event_ = nullptr;
    return code;
  }

 private:
  const ClFunctions& cl_;
  cl_event event_ = nullptr;
};

// Inside the call where no turns are taken: an event more costs a microsecond. `enqueue`: (blocking, event).
template <class Enqueue>
cl_int run(const MoveEnd& end, Enqueue enqueue) {
  if (!end.driver_lock) return enqueue(CL_TRUE, nullptr);
  Pending done(end.cl);
  const cl_int code = [&] {
    const auto lock = end.lock_driver();
    return enqueue(CL_FALSE, done.set());
  }();
  return code == CL_SUCCESS ? done.wait() : code;
}

cl_command_queue make_queue(const NativeMoves::End& end) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue = end.cl.clCreateCommandQueue(end.context, end.device, 0, &code);
  return code == CL_SUCCESS ? queue : nullptr;
}

}  // namespace

NativeMoves::~NativeMoves() {
  closing_ = true;
  join_finder();
  if (read_queue_) from_.cl.clReleaseCommandQueue(read_queue_);
  if (write_queue_) to_.cl.clReleaseCommandQueue(write_queue_);
}

bool NativeMoves::open_queues() {
  if (!read_queue_) read_queue_ = make_queue(from_);
  if (!write_queue_) write_queue_ = make_queue(to_);
  return read_queue_ && write_queue_;
}

NativeMoves::Moved NativeMoves::move(const Held& from, const Held& to, const copy::Region& part, size_t element) {
  const size_t bytes = copy::packed_bytes(part, element);
  const MutexLock lock(mutex_);
  if (!open_queues()) return {CL_OUT_OF_HOST_MEMORY};
  const uint64_t begin = monotonic_ns();
  const bool peer_mapped = lives_there(from, to);
  if (peer_mapped || (peer_ && bytes >= verdict_.least_bytes)) {
    const uint64_t offset = part.origin[0];
    const cl_int code =
        peer_mapped ? peer_->copy(from.peer_mapped->address() + offset, to.peer_mapped->address() + offset, bytes)
                    : move_by_peer(*peer_, from.mem, to.mem, part, element, bytes);
    if (code == CL_SUCCESS) {
      watch(bytes, monotonic_ns() - begin);
      return {CL_SUCCESS, true};
    }
    peer_.reset();  // the contents are still where they were
  }
  const cl_int code = move_pinned(from.mem, to.mem, part, element, bytes);
  moved_ns_ += monotonic_ns() - begin;
  if (moved_ns_ >= look_at_ns_) look_for_peer();
  return {code};
}

size_t NativeMoves::peer_from() {
  const MutexLock lock(mutex_);
  return peer_ ? verdict_.least_bytes : 0;
}

std::shared_ptr<PeerMemory> NativeMoves::make_peer_mapped(Side side, size_t bytes) {
  const MutexLock lock(mutex_);
  if (!peer_ || bytes > LargestPeerMapped) return nullptr;
  const std::shared_ptr<PeerDevice>& device = side == Side::From ? peer_->from() : peer_->to();
  return device->taken + bytes <= MostPeerBytes ? PeerMemory::make(device, bytes) : nullptr;
}

cl_int NativeMoves::copy_at_source(cl_mem from, cl_mem to, size_t bytes) {
  const MutexLock lock(mutex_);
  if (!open_queues()) return CL_OUT_OF_HOST_MEMORY;
  Pending copy(from_.cl);
  const cl_int code = [&]() GT_REQUIRES(mutex_) {
    const auto driver = from_.lock_driver();
    return from_.cl.clEnqueueCopyBuffer(read_queue_, from, to, 0, 0, bytes, 0, nullptr, copy.set());
  }();
  return code == CL_SUCCESS ? copy.wait() : code;
}

bool NativeMoves::lives_there(const Held& from, const Held& to) const {
  return peer_ && from.peer_mapped && to.peer_mapped && to.peer_mapped->admit(*peer_->from());
}

cl_int NativeMoves::move_pinned(cl_mem from, cl_mem to, const copy::Region& part, size_t element, size_t bytes) {
  std::unique_ptr<PinnedSlots>& slots = bytes <= SmallMove ? small_ : large_;
  if (!slots) slots = PinnedSlots::make(from_, to_, bytes <= SmallMove ? SmallMove : Slots * LargestChunk);
  if (!slots) return CL_OUT_OF_HOST_MEMORY;
  if (bytes <= SmallMove && part.is_range()) return copy_at_once(slots->base(), from, to, part);
  // Not too few: the first read and the last write have nothing beside them.
  constexpr size_t Page = 4096;
  const size_t wanted = (bytes / FewestChunks + Page - 1) / Page * Page;
  const size_t largest = std::clamp(wanted, SmallMove / Slots, slots->bytes() / Slots);
  return copy(*slots, copy::Chunks(part, element, largest), from, to, largest);
}

cl_int NativeMoves::move_by_peer(MoveSlots& slots, cl_mem from, cl_mem to, const copy::Region& part, size_t element,
                                 size_t bytes) {
  const size_t largest = std::clamp(bytes / FewestHops, SmallestHop, LargestHop);
  return copy(slots, copy::Chunks(part, element, largest), from, to, largest);
}

cl_int NativeMoves::copy_at_once(char* memory, cl_mem from, cl_mem to, const copy::Region& part) {
  using copy::Way;
  const cl_command_queue reads = read_queue_, writes = write_queue_;
  const cl_int code = run(from_, [&](cl_bool blocking, cl_event* event) {
    return copy::enqueue(from_.cl, reads, Way::ToHost, blocking, {.mem = from, .host = memory}, part, {}, event);
  });
  if (code != CL_SUCCESS) return code;
  return run(to_, [&](cl_bool blocking, cl_event* event) {
    return copy::enqueue(to_.cl, writes, Way::ToDevice, blocking, {.mem = to, .host = memory}, part, {}, event);
  });
}

cl_int NativeMoves::copy(MoveSlots& slots, const copy::Chunks& chunks, cl_mem from, cl_mem to, size_t slot_bytes) {
  if (!chunks.valid()) return CL_INVALID_VALUE;
  Pending reads[Slots] = {Pending(from_.cl), Pending(from_.cl), Pending(from_.cl), Pending(from_.cl),
                          Pending(from_.cl), Pending(from_.cl), Pending(from_.cl), Pending(from_.cl)};
  Pending writes[Slots] = {Pending(to_.cl), Pending(to_.cl), Pending(to_.cl), Pending(to_.cl),
                           Pending(to_.cl), Pending(to_.cl), Pending(to_.cl), Pending(to_.cl)};
  const size_t count = chunks.count(), used = std::min(Slots, slots.bytes() / slot_bytes);
  const size_t ahead = used / 2;  // the other half is being written
  size_t reading = 0;
  for (size_t i = 0; i < count; ++i) {
    for (; reading < std::min(count, i + ahead); ++reading) {
      const size_t slot = reading % used;
      cl_int code = writes[slot].wait();
      if (code == CL_SUCCESS) {
        const auto lock = from_.lock_driver();
        code = slots.fill(read_queue_, from, chunks.at(reading).part, slot * slot_bytes, reads[slot].set());
      }
      if (code != CL_SUCCESS) return code;
      from_.cl.clFlush(read_queue_);
    }
    const copy::Chunks::Chunk chunk = chunks.at(i);
    const size_t slot = i % used, at = slot * slot_bytes;
    cl_int code = reads[slot].wait();
    if (code == CL_SUCCESS) code = slots.hop(at, chunk.bytes);
    if (code == CL_SUCCESS) {
      const auto lock = to_.lock_driver();
      code = slots.drain(write_queue_, to, chunk.part, at, writes[slot].set());
    }
    if (code != CL_SUCCESS) return code;
    to_.cl.clFlush(write_queue_);
  }
  cl_int worst = CL_SUCCESS;
  for (Pending& write : writes)
    if (const cl_int code = write.wait(); code != CL_SUCCESS) worst = code;
  return worst;
}

// A device that is busy may take its time for the one way and not for the other.
void NativeMoves::watch(size_t bytes, uint64_t took_ns) {
  constexpr unsigned MostLate = 8;
  if (static_cast<double>(took_ns) > verdict_.pinned_ns(bytes))
    ++late_;
  else if (late_ > 0)
    --late_;
  if (late_ <= MostLate || peers_.even_slower) return;
  peer_.reset();
  look_again_later();
}

void NativeMoves::look_again_later() {
  late_ = 0;
  look_at_ns_ = peers_.retry_factor * std::max(moved_ns_, look_took_ns_);
}

// The driver is loaded here: its handlers at exit must be there before ours, which waits for the thread.
void NativeMoves::look_for_peer() {
  constexpr size_t StackBytes = size_t{4} << 20;  // the driver's functions are deep
  join_finder();
  look_at_ns_ = Never;
  has_looked_ = false;
  if (peers_.driver() && staging::start_thread("gt-peers", &NativeMoves::find_peer, this, &finder_, StackBytes))
    found_in_ = ::getpid();
  else
    has_looked_ = true;
}

// The one before has ended, or is about to. A child of fork() has no such thread.
void NativeMoves::join_finder() {
  if (found_in_ == ::getpid()) ::pthread_join(finder_, nullptr);
  found_in_ = 0;
}

void* NativeMoves::find_peer(void* self) {
  auto* const moves = static_cast<NativeMoves*>(self);
  const uint64_t begin = monotonic_ns();
  const Outcome outcome = moves->find_peer();
  {
    const MutexLock lock(moves->mutex_);
    moves->look_took_ns_ = monotonic_ns() - begin;
    if (outcome == Outcome::Slower) moves->look_again_later();
  }
  moves->has_looked_ = true;
  return nullptr;
}

// What an earlier look has left, peer-mapped allocations in use, counts on its device.
std::shared_ptr<PeerDevice> NativeMoves::device_at(Side side) {
  std::weak_ptr<PeerDevice>& known = devices_[side == Side::To];
  std::shared_ptr<PeerDevice> device = known.lock();
  if (!device) known = device = PeerDevice::make(*peers_.driver(), side == Side::From ? from_ : to_);
  return device;
}

NativeMoves::Outcome NativeMoves::find_peer() try {
  const cuda::Use use;
  if (!use.allowed()) return Outcome::Impossible;
  const std::shared_ptr<PeerDevice> source = device_at(Side::From);
  const std::shared_ptr<PeerDevice> destination = source ? device_at(Side::To) : nullptr;
  std::unique_ptr<PeerSlots> slots = destination ? PeerSlots::make(source, destination, PeerBytes) : nullptr;
  if (!slots) return Outcome::Impossible;
  const auto timed = [this](auto move) {
    return [this, move](cl_mem from, cl_mem to, size_t bytes) -> std::optional<double> {
      const MutexLock lock(mutex_);
      const uint64_t begin = monotonic_ns();
      if (move(from, to, bytes) != CL_SUCCESS) return {};
      return static_cast<double>(monotonic_ns() - begin);
    };
  };
  const TriedMove peer = timed([&](cl_mem from, cl_mem to, size_t bytes) GT_REQUIRES(mutex_) {
    return move_by_peer(*slots, from, to, copy::range(0, bytes), 1, bytes);
  });
  const TriedMove pinned = timed([&](cl_mem from, cl_mem to, size_t bytes) GT_REQUIRES(mutex_) {
    return move_pinned(from, to, copy::range(0, bytes), 1, bytes);
  });
  PeerVerdict verdict = try_peer(from_, to_, peer, pinned, [this] { return closing_ || cuda::is_leaving(); });
  if (peers_.even_slower && verdict.right) verdict.least_bytes = 1;
  if (!verdict.right) return Outcome::Impossible;
  if (verdict.least_bytes == 0) return Outcome::Slower;
  const MutexLock lock(mutex_);
  verdict_ = verdict;
  peer_ = std::move(slots);
  return Outcome::Found;
} catch (...) {  // no memory
  return Outcome::Impossible;
}

}  // namespace gt::moves
