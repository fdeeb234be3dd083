#include "transport/link/node/shm_link.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "transport/staging/node_copy.h"

namespace gt::wire {
namespace {

constexpr uint64_t Sleep_ns = 1'000'000'000;
constexpr int DrainTurns = 4096;  // of a peer that is gone: what is in the rings, not what a living one may add

}  // namespace

ShmLink::ShmLink(ShmSession session)
    : region_(session.region),
      control_(life_, region_->control_out(session.side), region_->control_in(session.side),
               region_->shown(session.side).control, region_->shown(1 - session.side).control),
      data_(life_, *this, region_->data_out(session.side), region_->data_in(session.side),
            region_->shown(session.side).data, region_->shown(1 - session.side).data),
      withdrawals_(life_, peer_, [this](const Word& answer) { return watch_.say(answer); }),
      watch_(life_, std::move(session), peer_, withdrawals_, [this] { return control_.awaits() || data_.awaits(); }) {}

ShmLink::~ShmLink() {
  if (life_.in_child()) return;
  close();
  control_thread_.join();
  data_thread_.join();
  watch_.join();
  withdrawals_.join();
}

Status ShmLink::start(LinkHandler& handler) {
  life_.start(handler);
  withdrawals_.start(handler);
  Status s = control_thread_.start("gtrace-control", [this] { run_channel(control_); });
  if (s.ok()) s = data_thread_.start("gtrace-data", [this] { run_channel(data_); });
  if (!s.ok()) life_.end(s);
  return s;
}

// --- Channels

template <class L>
void ShmLink::run_channel(L& channel) {
  ShmTurn& turn = channel.turn();
  ShmTurn::Lock lock = turn.take();
  for (int drained = 0; drained < DrainTurns;) {
    const uint32_t seen = turn.rung();
    const bool last = life_.is_ended();
    const auto busy = channel.work();
    if (!busy) {
      life_.end(busy.status());
      break;
    }
    drained += last;
    if (*busy) continue;
    if (last) break;
    life_.tick();
    if (spin(channel) || channel.idle(Idle::Sleeps)) continue;
    turn.sleep(lock, ShmTurn::Who::Thread, seen, Sleep_ns);
  }
  turn.close();
  lock.unlock();
  if (data_thread_.is_this()) data_.set_quiet();
  life_.channel_has_ended();
}

// Frames come in rows, and sleeping costs more than the pause between them. True: something came.
template <class L>
bool ShmLink::spin(L& channel) {
  SpinPolicy& spins = channel.turn().thread_spins;
  if (!spins.allows()) return false;
  uint64_t until = monotonic_ns() + Spin_ns;
  bool came = false, answered = false;
  while (!(came = !channel.seems_idle()) && monotonic_ns() < until && !life_.is_ended()) {
    if (channel.idle(Idle::Looks)) answered = true, until = monotonic_ns() + Spin_ns;
    pause();
  }
  spins.spun(came || answered);
  return came;
}

void ShmLink::wake_channels() {
  control_.wake_all();
  control_.turn().wake_all();
  data_.turn().wake_all();
}

void ShmLink::stop() {
  if (!life_.has_started()) data_.set_quiet();
  watch_.stop();
  withdrawals_.wake();
  wake_channels();
}

// --- Copies

[[gnu::noinline]] Ticket ShmLink::put_otherwise(const void* from, Address to, size_t bytes) {
  if (is_closed()) return 0;
  char* const there = data_.may_store() ? peer_.view(to, bytes) : nullptr;
  if (!there) return data_.put(from, to, bytes, {});
  copy(there, from, bytes);
  return 0;
}

[[gnu::noinline]] Ticket ShmLink::get_otherwise(void* to, Address from, size_t bytes) {
  if (is_closed()) return 0;
  const char* const there = peer_.view(from, bytes);
  if (!there) return data_.get(to, from, bytes);
  copy(to, there, bytes);
  return 0;
}

void ShmLink::copy(void* to, const void* from, size_t bytes) {
  if (bytes < CopyThreadsFrom)
    std::memcpy(to, from, bytes);
  else
    staging::copy_in_node(to, from, bytes);
}

// --- Memory

std::optional<Address> ShmLink::shared_part(const void* p, size_t bytes) {
  const auto* const at = static_cast<const char*>(p);
  const MutexLock lock(mutex_);
  if (!life_.is_open()) return {};
  for (auto it = shared_.upper_bound({at, ~SegmentId{0}}); it != shared_.begin();) {
    --it;
    const auto [base, segment] = it->first;
    const auto offset = static_cast<size_t>(at - base);
    if (offset >= largest_shared_) break;
    if (offset <= it->second && bytes <= it->second - offset) return Address{segment, offset};
  }
  return {};
}

Result<SegmentId> ShmLink::expose(void* base, size_t bytes) {
  if (is_closed()) return link_closed();
  return segments_.add(base, bytes);
}

// Where the peer cannot map it, it is exposed all the same, and reached through the ring.
Result<SegmentId> ShmLink::expose_shared(int fd, size_t fd_offset, void* base, size_t bytes) {
  if (is_closed()) return link_closed();
  const auto segment = segments_.add(base, bytes);
  if (!segment) return segment.status();
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);  // what it achieved is asked next
  if (!check_shared_memory(fd, fd_offset + bytes).ok()) return *segment;
  const auto maps = watch_.share(*segment, fd, fd_offset, bytes);
  if (!maps) return maps.status();
  if (!*maps) return *segment;
  const MutexLock lock(mutex_);
  shared_[{static_cast<const char*>(base), *segment}] = bytes;
  largest_shared_ = std::max(largest_shared_, bytes);
  return *segment;
}

Result<SegmentId> ShmLink::allocate(size_t bytes, void** base) {
  if (is_closed()) return link_closed();
  auto made = make_shared_memory(bytes);
  if (!made) return made.status();
  const OwnFd memory(std::move(*made));
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (p == MAP_FAILED) return system_error("memory for a link", errno);
  *base = p;
  auto segment = expose_shared(memory.get(), 0, p, bytes);
  if (segment)
    segments_.own(*segment);
  else
    ::munmap(p, bytes);
  return segment;
}

Status ShmLink::withdraw(SegmentId segment) {
  if (life_.in_child()) return link_closed();
  const Segments::Memory memory = segments_.withdraw(segment);
  if (!memory.base) return {Kind::Invalid, "no such segment"};
  bool is_shared = false;
  {
    const MutexLock lock(mutex_);
    is_shared = shared_.erase({memory.base, segment}) != 0;
  }
  if (is_shared && !is_closed()) watch_.withdraw(segment);
  Segments::release(memory);
  return {};
}

}  // namespace gt::wire
