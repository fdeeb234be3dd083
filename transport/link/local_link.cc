// The two ends share a Hub, which lives as long as either of them. What is sent goes into the receiver's channel; the
// sending thread then delivers what is in the channel, unless another thread is at it. So handlers run one at a time
// for each channel and in order, and a handler that sends to who is just sending to it does not wait for itself.
#include "transport/link/local_link.h"

#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "traces/base/mutex.h"

namespace gt::wire {
namespace {

Status closed() { return {Kind::Disconnected, "the link is closed"}; }

struct Arrival {
  Bytes frame;
  Notice notice = 0;
  size_t bytes = 0;
};

class Channel {
 public:
  // Delivers `arrival`, or leaves that to the thread that is delivering. True: it delivered what others left, too.
  template <class Deliver>
  bool pass(Arrival arrival, Deliver deliver) {
    UniqueLock lock(mutex_);
    waiting_.push_back(std::move(arrival));
    if (delivering_) return false;
    delivering_ = true;
    size_t delivered = 0;
    for (; !waiting_.empty(); ++delivered) {
      const Arrival next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      deliver(next);
      lock.lock();
    }
    delivering_ = false;
    return delivered > 1;
  }

 private:
  Mutex mutex_;
  std::deque<Arrival> waiting_ GT_GUARDED_BY(mutex_);
  bool delivering_ GT_GUARDED_BY(mutex_) = false;
};

// What one end exposes, and what is on its way to it.
struct End {
  Channel control, data;
  LinkHandler* handler = nullptr;
  int calls = 0;      // of the handler, under way
  bool told = false;  // that the link is closed
  std::unordered_map<SegmentId, std::pair<char*, size_t>> segments;
  std::unordered_map<SegmentId, Bytes> owned;
  SegmentId next = 1;
};

// Invariant: handlers are called only while `open`, and on_closed once for each, when no other call of it is under way.
struct Hub {
  Mutex mutex;
  bool open GT_GUARDED_BY(mutex) = true;
  End ends[2];  // all but control and data with the mutex

  // The handler of an end, for a call; nullptr: there is none, or the link is closed.
  LinkHandler* enter(int end) {
    const MutexLock lock(mutex);
    if (!open || !ends[end].handler) return nullptr;
    ++ends[end].calls;
    return ends[end].handler;
  }
  void leave(int end) {
    {
      const MutexLock lock(mutex);
      --ends[end].calls;
    }
    tell_closed(end);
  }
  void tell_closed(int end) {
    {
      const MutexLock lock(mutex);
      if (open || ends[end].calls > 0 || ends[end].told || !ends[end].handler) return;
      ends[end].told = true;
    }
    ends[end].handler->on_closed(closed());
  }

  char* find(int end, Address a, size_t bytes) {
    const MutexLock lock(mutex);
    if (a.segment == WholeProcess) return reinterpret_cast<char*>(a.offset);
    const auto it = ends[end].segments.find(a.segment);
    if (it == ends[end].segments.end()) return nullptr;
    const auto [base, size] = it->second;
    return a.offset <= size && bytes <= size - a.offset ? base + a.offset : nullptr;
  }
  bool is_open() {
    const MutexLock lock(mutex);
    return open;
  }
};

constexpr int Asking = 0;  // the first end of make_local_link()

// The link on which this thread is between prepare_help() and the end of help().
thread_local const Link* asks = nullptr;

class LocalLink final : public Link {
 public:
  LocalLink(std::shared_ptr<Hub> hub, int end) : hub_(std::move(hub)), end_(end) {}
  ~LocalLink() override { close(); }

  Status start(LinkHandler& handler) override {
    const MutexLock lock(hub_->mutex);
    mine().handler = &handler;
    return {};
  }

  void close() override {
    {
      const MutexLock lock(hub_->mutex);
      if (!hub_->open) return;
      hub_->open = false;
    }
    for (int i = 0; i < 2; ++i) hub_->tell_closed(i);
  }

  Status send(std::span<const ByteView> parts, bool more) override {
    if (!hub_->is_open()) return closed();
    Arrival arrival;
    for (const ByteView part : parts) arrival.frame.insert(arrival.frame.end(), part.begin(), part.end());
    if (arrival.frame.size() > LargestFrame) return {Kind::Invalid, "a frame is larger than a link takes"};
    const bool others = peer().control.pass(std::move(arrival), [this](const Arrival& a) {
      call_peer([&](LinkHandler& h) { h.on_frame(a.frame); });
    });
    // Who left a frame to this thread may have said before it was delivered that nothing is left.
    return more && !others ? Status() : push();
  }
  // Only who asks tells the other that nothing is left: handlers at the asking end may go once they have their answer.
  Status push() override {
    if (end_ == Asking) call_peer([](LinkHandler& h) { h.on_idle(Idle::Sleeps); });
    return {};
  }
  // The peer's handler waits here for what was asked for, in the thread that would have to wait for its answer.
  void prepare_help() override {
    if (asks != this) (void)push();  // what was asked for before
    asks = this;
  }
  void help(const std::function<bool()>& done) override {
    if (asks == this && !done()) call_peer([](LinkHandler& h) { h.on_idle(Idle::Waits); });
    asks = nullptr;
    (void)push();
  }

  Result<SegmentId> expose(void* base, size_t bytes) override {
    const MutexLock lock(hub_->mutex);
    const SegmentId id = mine().next++;
    mine().segments[id] = {static_cast<char*>(base), bytes};
    return id;
  }
  Result<SegmentId> expose_shared(int, size_t, void* base, size_t bytes) override { return expose(base, bytes); }
  Result<SegmentId> allocate(size_t bytes, void** base) override {
    Bytes memory(bytes);
    *base = memory.data();
    Result<SegmentId> id = expose(*base, bytes);
    const MutexLock lock(hub_->mutex);
    mine().owned[*id] = std::move(memory);
    return id;
  }
  Status withdraw(SegmentId segment) override {
    if (hub_->find(end_, {segment, 0}, 0)) call_peer([&](LinkHandler& h) { h.on_withdrawn(segment); });
    const MutexLock lock(hub_->mutex);
    mine().owned.erase(segment);
    if (mine().segments.erase(segment)) return {};
    return {Kind::Invalid, "no such segment"};
  }

  void* view(Address a, size_t bytes) override { return hub_->find(1 - end_, a, bytes); }
  std::optional<Address> shared_address(const void* p, size_t) override {
    return Address{WholeProcess, reinterpret_cast<uint64_t>(p)};
  }

  Ticket put(const void* from, Address to, size_t bytes) override {
    void* const there = view(to, bytes);
    there && hub_->is_open() ? static_cast<void>(std::memcpy(there, from, bytes)) : close();
    return 0;
  }
  Ticket put(const void* from, Address to, size_t bytes, Notice notice) override {
    put(from, to, bytes);
    if (!is_closed())
      peer().data.pass({{}, notice, bytes}, [this](const Arrival& a) {
        call_peer([&](LinkHandler& h) { h.on_put(a.notice, a.bytes); });
      });
    return 0;
  }
  Ticket get(void* to, Address from, size_t bytes) override {
    const void* const there = view(from, bytes);
    there && hub_->is_open() ? static_cast<void>(std::memcpy(to, there, bytes)) : close();
    return 0;
  }
  bool test(Ticket) override { return true; }
  Status wait(Ticket) override { return flush(); }
  Status flush() override { return hub_->is_open() ? Status() : closed(); }
  bool is_closed() const override { return !hub_->is_open(); }

 private:
  End& mine() { return hub_->ends[end_]; }
  End& peer() { return hub_->ends[1 - end_]; }
  template <class Call>
  void call_peer(Call call) {
    LinkHandler* const h = hub_->enter(1 - end_);
    if (!h) return;
    call(*h);
    hub_->leave(1 - end_);
  }

  std::shared_ptr<Hub> hub_;
  int end_;
};

}  // namespace

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_local_link() {
  const auto hub = std::make_shared<Hub>();
  return {std::make_unique<LocalLink>(hub, 0), std::make_unique<LocalLink>(hub, 1)};
}

}  // namespace gt::wire
