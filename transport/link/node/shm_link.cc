#include "transport/link/node/shm_link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "traces/base/fork_mark.h"
#include "traces/base/mutex.h"
#include "transport/link/base/link_thread.h"
#include "transport/link/node/shm_control.h"
#include "transport/link/node/shm_data.h"
#include "transport/link/node/shm_withdrawals.h"
#include "transport/link/node/shm_word.h"
#include "transport/staging/node_copy.h"

namespace gt::wire {
namespace {

constexpr uint64_t CloseWithin_ms = 2000, AnswerWithin_ms = 5000, Sleep_ns = 1'000'000'000;
constexpr int ServerSide = 0, ClientSide = 1;
constexpr size_t CopyThreadsFrom = size_t{1} << 20;
constexpr int DrainTurns = 4096;  // of a peer that is gone: what is in the rings, not what a living one may add

Status closed() { return {Kind::Disconnected, "the link is closed"}; }
Status gone() { return {Kind::Disconnected, "the peer is gone"}; }

class ShmLink final : public Link, private ShmOwner {
 public:
  ShmLink(Fd socket, Fd process, ShmResume resume, std::shared_ptr<ShmRegion> region, int side, uint64_t dead_ns)
      : options_(resume.options),
        plug_(std::move(socket), std::move(process), std::move(resume)),
        region_(std::move(region)),
        head_(region_->head()),
        side_(side),
        dead_ns_(dead_ns),
        control_(*this, RingWriter(head_.control[side], region_->control(side), ControlRing),
                 RingReader(head_.control[1 - side], region_->control(1 - side), ControlRing),
                 head_.sides[side].control, head_.sides[1 - side].control),
        data_(*this, RingWriter(head_.data[side], region_->data(side), DataRing),
              RingReader(head_.data[1 - side], region_->data(1 - side), DataRing), head_.sides[side].data,
              head_.sides[1 - side].data) {}
  ~ShmLink() override;
  // Before start(): the peer may share memory at once.
  Status start_watch() {
    if (!stop_.open()) return {Kind::System, "a descriptor cannot be had", EMFILE};
    return watch_thread_.start("gtrace-watch", [this] { watch(); });
  }

  Status start(LinkHandler& handler) override;
  void close() override;
  void expect_end() override { plug_.expect_end(); }
  Status send(std::span<const ByteView> parts, bool) override { return in_child() ? closed() : control_.send(parts); }
  Status push() override { return is_closed() ? closed() : Status(); }
  Result<SegmentId> expose(void* base, size_t bytes) override;
  Result<SegmentId> expose_shared(int fd, size_t fd_offset, void* base, size_t bytes) override;
  Result<SegmentId> allocate(size_t bytes, void** base) override;
  Status withdraw(SegmentId segment) override;
  void* view(Address a, size_t bytes) override { return is_closed() ? nullptr : peer_.view(a, bytes); }
  std::optional<Address> shared_address(const void* p, size_t bytes) override { return shared_part(p, bytes); }
  // Where memory is shared, a check and a copy: no lock, nothing that other threads write.
  Ticket put(const void* from, Address to, size_t bytes) override {
    char* const there = bytes < CopyThreadsFrom && data_.may_store() && !is_closed() ? peer_.view(to, bytes) : nullptr;
    if (!there) return put_otherwise(from, to, bytes);
    std::memcpy(there, from, bytes);
    return 0;
  }
  Ticket put(const void* from, Address to, size_t bytes, Notice notice) override {
    return is_closed() ? 0 : data_.put(from, to, bytes, notice);
  }
  Ticket get(void* to, Address from, size_t bytes) override {
    const char* const there = bytes < CopyThreadsFrom && !is_closed() ? peer_.view(from, bytes) : nullptr;
    if (!there) return get_otherwise(to, from, bytes);
    std::memcpy(to, there, bytes);
    return 0;
  }
  bool test(Ticket ticket) override { return in_child() || data_.test(ticket); }
  Status wait(Ticket ticket) override { return in_child() ? closed() : data_.wait(ticket); }
  Status flush() override { return in_child() ? closed() : data_.flush(); }
  bool is_closed() const override { return in_child() || state_ != State::Open; }
  void prepare_help() override {
    if (!in_child() && !in_handler()) control_.prepare_help();
  }
  void help(const std::function<bool()>& done) override {
    if (!in_child() && !in_handler()) control_.help(done);
  }
  void wake_helper() override {
    if (!in_child()) control_.turn().wake_helper();
  }

 private:
  enum class State : uint8_t { Open, Closing, Ended };

  LinkHandler& handler() override { return *handler_; }
  Segments& segments() override { return segments_; }
  const RemoteMapping& peer() override { return peer_; }
  std::optional<Address> shared_part(const void* p, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes < CopyThreadsFrom)
      std::memcpy(to, from, bytes);
    else
      staging::copy_in_node(to, from, bytes);
  }
  // Apart, so that a small copy saves and restores no registers for what it does not do.
  Ticket put_otherwise(const void* from, Address to, size_t bytes);
  Ticket get_otherwise(void* to, Address from, size_t bytes);
  bool in_handler() override {
    return control_thread_.is_this() || data_thread_.is_this() || withdrawals_.is_this_thread() ||
           control_.turn().is_delivering();
  }
  bool is_ended() override { return state_ == State::Ended; }
  bool is_open() override { return state_ == State::Open; }
  Status why_closed() override;
  void fail(const Status& why) override { end(why); }

  bool in_child() const { return mark_.in_child(); }
  template <class L>
  void run_channel(L& channel);
  template <class L>
  bool spin(L& channel);
  void finish_closing();
  void channel_has_ended();
  void end(const Status& why);

  void watch();
  void look_at_socket(const OwnFd& socket, short socket_events, short process_events);
  void plug_in_again(short handover_events);
  void beat();
  bool take_words(int socket);
  Status take_word(const Word& word, const Fd& fd);
  void take_answer(const Word& word);
  Status ask(const Word& word, int fd, bool& agreed);
  void ask_again();
  Status say(const Word& word, int fd);
  Status answer(const Word& word) override { return say(word, -1); }

  const ForkMark mark_ = ForkMark::here();
  const LinkOptions options_;
  ShmPlug plug_;
  const std::shared_ptr<ShmRegion> region_;
  RegionHead& head_;
  const int side_;
  const uint64_t dead_ns_;
  Segments segments_;
  RemoteMapping peer_;
  ShmControl control_;
  ShmData data_;
  ShmWithdrawals withdrawals_{*this, peer_};
  LinkHandler* handler_ = nullptr;
  Wake stop_;
  LinkThread control_thread_, data_thread_, watch_thread_;

  mutable Mutex mutex_;
  std::condition_variable changed_;
  std::atomic<State> state_{State::Open};
  Status why_ GT_GUARDED_BY(mutex_);
  uint64_t give_up_ns_ = 0;  // written before state_ says Closing
  int ended_channels_ GT_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> started_{false};
  using Start = std::pair<const char*, SegmentId>;
  std::map<Start, size_t> shared_ GT_GUARDED_BY(mutex_);  // its bytes
  size_t largest_shared_ GT_GUARDED_BY(mutex_) = 0;       // ever
  struct Asked {
    Word word;
    int fd;  // that goes with it
    std::optional<bool> answer;
  };
  std::map<SegmentId, Asked> asked_ GT_GUARDED_BY(mutex_);  // of the peer
  uint64_t peer_beat_ = 0, peer_lived_ns_ = 0;      // the watch thread's
};

ShmLink::~ShmLink() {
  if (in_child()) return;
  close();
  end(closed());
  control_thread_.join();
  data_thread_.join();
  watch_thread_.join();
  withdrawals_.join();
}

Status ShmLink::start(LinkHandler& handler) {
  handler_ = &handler;
  withdrawals_.start(handler);
  started_ = true;
  Status s = control_thread_.start("gtrace-control", [this] { run_channel(control_); });
  if (s.ok()) s = data_thread_.start("gtrace-data", [this] { run_channel(data_); });
  if (!s.ok()) end(s);
  return s;
}

// --- Channels

template <class L>
void ShmLink::run_channel(L& channel) {
  ShmTurn& turn = channel.turn();
  ShmTurn::Lock lock = turn.take();
  for (int drained = 0; drained < DrainTurns;) {
    const uint32_t seen = turn.rung();
    const bool last = state_ == State::Ended;
    const auto busy = channel.work();
    if (!busy) {
      end(busy.status());
      break;
    }
    drained += last;
    if (*busy) continue;
    if (last) break;
    finish_closing();
    if (spin(channel) || channel.idle(Idle::Sleeps)) continue;
    turn.sleep(lock, ShmTurn::Who::Thread, seen, Sleep_ns);
  }
  turn.close();
  lock.unlock();
  channel_has_ended();
}

// Frames come in rows, and sleeping costs more than the pause between them. True: something came.
template <class L>
bool ShmLink::spin(L& channel) {
  SpinPolicy& spins = channel.turn().thread_spins;
  if (!spins.allows()) return false;
  uint64_t until = monotonic_ns() + Spin_ns;
  bool came = false, answered = false;
  while (!(came = !channel.seems_idle()) && monotonic_ns() < until && state_ != State::Ended) {
    if (channel.idle(Idle::Looks)) answered = true, until = monotonic_ns() + Spin_ns;
    pause();
  }
  spins.spun(came || answered);
  return came;
}

void ShmLink::channel_has_ended() {
  if (data_thread_.is_this()) data_.set_quiet();
  {
    const MutexLock lock(mutex_);
    if (ended_channels_ == 0) {
      ++ended_channels_;
      return;
    }
  }
  withdrawals_.stop();
  handler_->on_closed(why_closed());
  const MutexLock lock(mutex_);
  ++ended_channels_;
  changed_.notify_all();
}

// --- The end

void ShmLink::close() {
  if (in_child()) return;
  if (!started_) return end(closed());
  {
    const MutexLock lock(mutex_);
    if (state_ == State::Open) {
      why_ = closed();
      give_up_ns_ = monotonic_ns() + CloseWithin_ms * Ms;
      state_ = State::Closing;  // last: who sees it reads the others
    }
  }
  control_.wake_all();
  control_.turn().wake_all();
  data_.turn().wake_all();
  if (in_handler()) return;
  const Deadline deadline(give_up_ns_ ? give_up_ns_ : monotonic_ns() + CloseWithin_ms * Ms);
  while (state_ != State::Ended && !deadline.over()) {
    finish_closing();
    UniqueLock lock(mutex_);
    if (state_ != State::Ended) changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  end(closed());
  UniqueLock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(CloseWithin_ms),
                    [&]() GT_REQUIRES(mutex_) { return ended_channels_ == 2; });
}

// When the peer has taken everything, or does not within the time.
void ShmLink::finish_closing() {
  if (state_ != State::Closing) return;
  if ((control_.all_taken() && data_.all_taken()) || monotonic_ns() > give_up_ns_) end(closed());
}

void ShmLink::end(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (state_ == State::Ended) return;
    if (state_ == State::Open) why_ = why;
    state_ = State::Ended;
    changed_.notify_all();
  }
  if (!started_) data_.set_quiet();
  if (const auto socket = plug_.socket(); socket->is_ours()) {
    Word bye;
    bye.kind = Word::Kind::Leave;
    (void)send_word(socket->get(), bye, -1, Deadline(0));
    ::shutdown(socket->get(), SHUT_RDWR);
  }
  stop_.ring();
  withdrawals_.wake();
  control_.wake_all();
  control_.turn().wake_all();
  data_.turn().wake_all();
}

Status ShmLink::why_closed() {
  const MutexLock lock(mutex_);
  return why_.ok() ? closed() : why_;
}

// --- Memory

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

std::optional<Address> ShmLink::shared_part(const void* p, size_t bytes) {
  const auto* const at = static_cast<const char*>(p);
  const MutexLock lock(mutex_);
  if (state_ != State::Open) return {};
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
  if (is_closed()) return closed();
  return segments_.add(base, bytes);
}

// Where the peer cannot map it, it is exposed all the same, and reached through the ring.
Result<SegmentId> ShmLink::expose_shared(int fd, size_t fd_offset, void* base, size_t bytes) {
  if (is_closed()) return closed();
  const auto segment = segments_.add(base, bytes);
  if (!segment) return segment.status();
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);  // what it achieved is asked next
  if (!check_shared_memory(fd, fd_offset + bytes).ok()) return *segment;
  Word word;
  word.kind = Word::Kind::Share;
  word.segment = *segment;
  word.bytes = bytes;
  word.offset = fd_offset;
  bool agreed = false;
  GT_TRY(ask(word, fd, agreed));
  if (!agreed) return *segment;
  const MutexLock lock(mutex_);
  shared_[{static_cast<const char*>(base), *segment}] = bytes;
  largest_shared_ = std::max(largest_shared_, bytes);
  return *segment;
}

Result<SegmentId> ShmLink::allocate(size_t bytes, void** base) {
  if (is_closed()) return closed();
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
  if (in_child()) return closed();
  const Segments::Memory memory = segments_.withdraw(segment);
  if (!memory.base) return {Kind::Invalid, "no such segment"};
  bool is_shared = false;
  {
    const MutexLock lock(mutex_);
    is_shared = shared_.erase({memory.base, segment}) != 0;
  }
  Word word;
  word.kind = Word::Kind::Withdraw;
  word.segment = segment;
  bool agreed = false;
  if (is_shared && !is_closed()) (void)ask(word, -1, agreed);  // a peer that is gone has let go of it, too
  Segments::release(memory);
  return {};
}

// --- The socket

// Waits for the peer's answer; for as long as the peer lives when memory is withdrawn, and for a client's: a program
// that a debugger has stopped keeps its session.
Status ShmLink::ask(const Word& word, int fd, bool& agreed) {
  UniqueLock lock(mutex_);
  Asked& asked = asked_[word.segment] = {word, fd, {}};  // only taken away below
  lock.unlock();
  Status s = say(word, fd);
  lock.lock();
  const auto answered = [&]() GT_REQUIRES(mutex_) { return state_ == State::Ended || asked.answer.has_value(); };
  if (s.ok() && (word.kind == Word::Kind::Withdraw || side_ == ServerSide))
    changed_.wait(lock, answered);
  else if (s.ok() && !changed_.wait_for(lock, std::chrono::milliseconds(AnswerWithin_ms), answered))
    s = Status(Kind::Disconnected, "the peer does not answer");
  agreed = asked.answer.value_or(false);
  const bool answer = asked.answer.has_value();
  asked_.erase(word.segment);
  lock.unlock();
  if (answer) return {};
  end(s.ok() ? gone() : s);
  return why_closed();
}

// By a new socket: what was asked by the old one may not have arrived, nor its answer.
void ShmLink::ask_again() {
  const auto socket = plug_.socket();
  const MutexLock lock(mutex_);  // so that nobody closes what goes with it
  for (const auto& [segment, asked] : asked_)
    if (!asked.answer) (void)send_word(socket->get(), asked.word, asked.fd, Deadline(0));
}

// Without a socket it is said when there is another one.
Status ShmLink::say(const Word& word, int fd) {
  const auto socket = plug_.socket();
  Status s = descriptors_closed();
  if (socket->is_ours()) s = send_word(socket->get(), word, fd, Deadline::in_ms(AnswerWithin_ms));
  return s.kind() == Kind::Disconnected && plug_.may_return() ? Status() : s;
}

void ShmLink::watch() {
  constexpr int RetryEvery_ms = 50;
  const auto heartbeat_ms = static_cast<int>(std::min<uint64_t>(options_.heartbeat_ms, dead_ns_ / Ms / 3 + 1));
  peer_lived_ns_ = monotonic_ns();
  while (state_ != State::Ended) {
    const auto socket = plug_.socket();
    const bool out = plug_.is_out();
    pollfd fds[] = {{out ? -1 : socket->get(), POLLIN | POLLRDHUP, 0},
                    {plug_.process(), POLLIN, 0},
                    {stop_.fd(), POLLIN, 0},
                    {plug_.handover(), POLLIN, 0}};
    ::poll(fds, 4, out && plug_.is_client() ? RetryEvery_ms : heartbeat_ms);
    if (stop_.keep_up(fds[2].revents) == Wake::Kept::Lost) return end(descriptors_closed());
    if (!out) look_at_socket(*socket, fds[0].revents, fds[1].revents);
    if (out && (fds[1].revents & POLLIN) && plug_.is_process()) end(gone());
    if (plug_.is_out() || fds[3].revents) plug_in_again(fds[3].revents);
    beat();
  }
  plug_.give_up();
}

void ShmLink::look_at_socket(const OwnFd& socket, short socket_events, short process_events) {
  if (!socket.is_ours() || (process_events && !plug_.is_process())) {
    if (!plug_.pull()) end(descriptors_closed());
    return;
  }
  const bool goes_on = !(socket_events & POLLIN) || take_words(socket.get());
  if (process_events) return end(gone());
  if (goes_on && !(socket_events & (POLLRDHUP | POLLHUP | POLLERR))) return;
  if (plug_.peer_is_dead() || !plug_.pull()) end(gone());
}

void ShmLink::plug_in_again(short handover_events) {
  if (plug_.is_client() ? plug_.reconnect() : handover_events && plug_.take_connection()) return ask_again();
  if (plug_.is_out() && plug_.is_grace_over()) end(plug_.is_client() ? descriptors_closed() : gone());
}

// Shows that we live, and judges whether the peer does. A client always does: its program waits for what the server has
// taken and does not answer. A server only while the client has something to do: who is stopped for a while keeps its
// session.
void ShmLink::beat() {
  const uint64_t now = monotonic_ns(), theirs = head_.sides[1 - side_].beat.load(std::memory_order_relaxed);
  head_.sides[side_].beat.fetch_add(1, std::memory_order_relaxed);
  const bool judges = side_ == ClientSide || control_.awaits() || data_.awaits();
  if (theirs != peer_beat_ || !judges) {
    peer_beat_ = theirs;
    peer_lived_ns_ = now;
  }
  if (now - peer_lived_ns_ > dead_ns_) end({Kind::Disconnected, "the peer does not move"});
}

// False: nothing more will come.
bool ShmLink::take_words(int socket) {
  while (true) {
    Fd fd;
    const auto word = receive_word(socket, fd);
    if (!word && word.status().kind() == Kind::Disconnected) return false;
    const Status s = !word ? word.status() : *word ? take_word(**word, fd) : Status();
    if (!s.ok()) end(s);
    if (!s.ok() || !*word) return true;
  }
}

void ShmLink::take_answer(const Word& word) {
  const auto question = word.kind == Word::Kind::Shared ? Word::Kind::Share : Word::Kind::Withdraw;
  const MutexLock lock(mutex_);
  const auto it = asked_.find(word.segment);
  if (it != asked_.end() && it->second.word.kind == question) it->second.answer = word.ok != 0;
  changed_.notify_all();
}

Status ShmLink::take_word(const Word& word, const Fd& fd) {
  const bool is_answer = word.kind == Word::Kind::Shared || word.kind == Word::Kind::Withdrawn;
  if (is_answer) return take_answer(word), Status();
  if (word.kind == Word::Kind::Leave) return expect_end(), Status();
  Word answer;
  answer.segment = word.segment;
  answer.ok = 1;
  if (word.kind == Word::Kind::Share) {
    answer.kind = Word::Kind::Shared;
    const bool again = peer_.view({word.segment, 0}, 0) != nullptr;  // the answer was lost
    const Status mapped = again       ? Status()
                          : fd.open() ? peer_.map(word.segment, fd.get(), word.offset, word.bytes)
                                    : Status(Kind::Corrupt, "a shared segment without memory");
    answer.ok = mapped.ok();
  } else if (word.kind == Word::Kind::Withdraw) {
    return withdrawals_.add(word.segment);
  } else {
    return {Kind::Corrupt, "the peer sent an unknown word"};
  }
  return say(answer, -1);
}

Result<std::unique_ptr<Link>> make_link(Fd socket, std::shared_ptr<ShmRegion> region, int side, uint64_t dead_ns,
                                        ShmResume resume) {
  auto process = exchange_processes(socket.get(), Deadline::in_ms(resume.options.connect_ms));
  if (!process) return process.status();
  auto link = std::make_unique<ShmLink>(std::move(socket), std::move(*process), std::move(resume), std::move(region),
                                        side, dead_ns);
  GT_TRY(link->start_watch());
  return std::unique_ptr<Link>(std::move(link));
}

}  // namespace

Result<std::unique_ptr<Link>> make_shm_client(Agreed agreed, ShmResume resume) {
  const Deadline deadline = Deadline::in_ms(resume.options.connect_ms);
  Fd socket = agreed.socket.release();
  const auto memory = await_word(socket.get(), Word::Kind::Region, deadline);
  if (!memory) return memory.status();
  auto region = ShmRegion::map(memory->get());
  if (!region) return region.status();
  return make_link(std::move(socket), std::move(*region), ClientSide, agreed.dead_ms * Ms, std::move(resume));
}

Result<std::unique_ptr<Link>> make_shm_server(Agreed agreed, ShmResume resume) {
  const Deadline deadline = Deadline::in_ms(resume.options.connect_ms);
  Fd socket = agreed.socket.release(), memory;
  auto region = ShmRegion::make(memory);
  if (!region) return region.status();
  GT_TRY(send_word(socket.get(), Word{}, memory.get(), deadline));
  return make_link(std::move(socket), std::move(*region), ServerSide, agreed.dead_ms * Ms, std::move(resume));
}

}  // namespace gt::wire
