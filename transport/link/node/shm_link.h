// A link inside a node: rings and memory that both sides map; a Unix socket tells when the peer is gone and carries the
// descriptors of shared segments.
//
//   control thread   frames from the ring to on_frame()
//   data thread      records from the ring: puts, gets
//   watch thread     the socket, the peer's process, signs of life (shm_watch.h)
//
// Thread safety: as link.h says.
#pragma once

#include <cstring>
#include <map>

#include "traces/base/mutex.h"
#include "transport/link/node/shm_control.h"
#include "transport/link/node/shm_data.h"
#include "transport/link/node/shm_watch.h"

namespace gt::wire {

class ShmLink final : public Link, private LinkParts, private ShmOwner {
 public:
  explicit ShmLink(ShmSession session);
  ~ShmLink() override;
  // REQUIRES: before start().
  Status start_watch() { return watch_.start(); }

  Status start(LinkHandler& handler) override;
  void close() override { life_.close(); }
  void expect_end() override { watch_.expect_end(); }
  Status send(std::span<const ByteView> parts, bool) override {
    return life_.in_child() ? link_closed() : control_.send(parts);
  }
  Status push() override { return is_closed() ? link_closed() : Status(); }
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
  bool test(Ticket ticket) override { return life_.in_child() || data_.test(ticket); }
  Status wait(Ticket ticket) override { return life_.in_child() ? link_closed() : data_.wait(ticket); }
  Status flush() override { return life_.in_child() ? link_closed() : data_.flush(); }
  bool is_closed() const override { return life_.is_closed(); }
  void prepare_help() override {
    if (!life_.in_child() && !in_handler()) control_.prepare_help();
  }
  void help(const std::function<bool()>& done) override {
    if (!life_.in_child() && !in_handler()) control_.help(done);
  }
  void wake_helper() override {
    if (!life_.in_child()) control_.turn().wake_helper();
  }

 private:
  static constexpr size_t CopyThreadsFrom = size_t{1} << 20;

  bool in_handler() override {
    return control_thread_.is_this() || data_thread_.is_this() || withdrawals_.is_this_thread() ||
           control_.turn().is_delivering();
  }
  void say_bye() override { wake_channels(); }
  bool all_arrived() override { return control_.all_taken() && data_.all_taken(); }
  void stop() override;
  void stop_telling() override { withdrawals_.stop(); }

  Segments& segments() override { return segments_; }
  const RemoteMapping& peer() override { return peer_; }
  std::optional<Address> shared_part(const void* p, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  // Apart, so that a small copy saves and restores no registers for what it does not do.
  Ticket put_otherwise(const void* from, Address to, size_t bytes);
  Ticket get_otherwise(void* to, Address from, size_t bytes);

  template <class L>
  void run_channel(L& channel);
  template <class L>
  bool spin(L& channel);
  void wake_channels();

  LinkLife life_{*this};
  const std::shared_ptr<ShmRegion> region_;
  Segments segments_;
  RemoteMapping peer_;
  ShmControl control_;
  ShmData data_;
  ShmWithdrawals withdrawals_;
  ShmWatch watch_;
  LinkThread control_thread_, data_thread_;

  Mutex mutex_;
  using Start = std::pair<const char*, SegmentId>;
  std::map<Start, size_t> shared_ GT_GUARDED_BY(mutex_);  // its bytes
  size_t largest_shared_ GT_GUARDED_BY(mutex_) = 0;       // ever
};

}  // namespace gt::wire
