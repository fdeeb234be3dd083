// Contents on their way from one proxy to another: directly where they are peers, else through the client's memory.
//
// Large contents that several proxies need go along a chain of them, in parts: who has a part passes it on while the
// next one comes, so each link carries them once, and the last proxy has them little later than the first
// (docs/decisions/0054).
// Thread safety: start() once; the rest on threads of ours.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "optimizer-rt/client/memory/mem.h"
#include "optimizer-rt/client/memory/residency.h"
#include "traces/base/mutex.h"
#include "transport/copy/chunks.h"

namespace gt::virt {

// Where the contents are, and where they come from if that fails.
struct PassingSource {
  SubContext* place = nullptr;
  std::shared_ptr<const Arrival> arrival;  // there, if they are on their way to it themselves
  SubContext* origin = nullptr;            // that has them, or will when origin_ready has ended; may be `place`
  Ref<_cl_event> origin_ready;             // none: it has them
};

class Passing : public std::enable_shared_from_this<Passing> {
 public:
  // REQUIRES: the residency is locked.
  Passing(_cl_mem& root, const PassingSource& source, SubContext& to);

  const Ref<_cl_event>& ready() const { return ready_; }
  // Of the parts, in their order.
  const std::shared_ptr<const Arrival>& arrival() const { return arrival_; }
  // What has written the contents at the source has ended; those that are on their way to it may not.
  void start();

  // In how many parts contents go; more than one: along a chain.
  static uint64_t parts_of(const _cl_mem& root);

 private:
  enum class Fault : uint8_t { Link, Before };  // Before: the part has not come to the source
  void next(uint32_t peer);
  void send(uint64_t part, uint32_t peer);
  void passed(uint64_t part, uint32_t peer, cl_int status, Fault fault = Fault::Link);
  template <class Message>
  Message half(uint64_t part, uint32_t peer) const;
  void relay();
  void read();
  void write(cl_int status);
  void complete(cl_int status);
  void guard(const std::function<void()>& step);

  const Ref<_cl_mem> mem_;
  const PassingSource source_;
  SubContext& to_;
  const ObjectId from_name_, origin_name_, to_name_;
  const copy::Layout layout_;
  const copy::Chunks parts_;
  const Ref<_cl_event> ready_;
  const std::shared_ptr<const Arrival> arrival_;
  Bytes bytes_;  // that go through us

  Mutex mutex_;
  uint64_t begun_ GT_GUARDED_BY(mutex_) = 0, under_way_ GT_GUARDED_BY(mutex_) = 0, done_ GT_GUARDED_BY(mutex_) = 0;
  bool failed_ GT_GUARDED_BY(mutex_) = false, link_failed_ GT_GUARDED_BY(mutex_) = false;
};

}  // namespace gt::virt
