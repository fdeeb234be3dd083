#include "optimizer-rt/virtual/moves.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>

#include "optimizer-rt/virtual/transfer.h"

namespace gt::virt {
namespace {

// One move under way. Each step runs on the thread for work, when what it waited for has ended; the commands at the
// destination wait for `ready`.
struct Move : std::enable_shared_from_this<Move> {
  Ref<_cl_mem> mem;
  Place *from, *to;
  ObjectId from_name, to_name;
  Ref<_cl_event> ready;
  HostLayout layout;
  std::vector<uint8_t> bytes;

  void read() {
    guard([this] {
      bytes.resize(packed_bytes(layout));
      const Ref<_cl_event> event = make<_cl_event>(*mem->context, *from);
      const Ids none;
      send_read({*from, from->service_queue(), from_name, mem->whole(), mem->element(), layout, none}, bytes.data(),
                *event);
      event->then([self = shared_from_this(), event](cl_int status) { self->write(status); });
      event->subscribe();
    });
  }
  void write(cl_int status) {
    if (status != CL_COMPLETE) return ready->complete(status, 0, 0);
    guard([this] {
      const Ref<_cl_event> event = make<_cl_event>(*mem->context, *to);
      const Ids none;
      send_write({*to, to->service_queue(), to_name, mem->whole(), mem->element(), layout, none}, bytes.data(),
                 event.get(), Until::Sent, shared_from_this());
      event->then([self = shared_from_this(), event](cl_int s) { self->ready->complete(s, 0, 0); });
      event->subscribe();
    });
  }
  template <class Step>
  void guard(Step step) {
    try {
      step();
    } catch (const Failure& failure) {
      ready->complete(failure.code, 0, 0);
    } catch (const std::bad_alloc&) {
      ready->complete(CL_OUT_OF_HOST_MEMORY, 0, 0);
    }
  }
};

// Where a command finds them soonest: a place whose own move is over.
size_t best_source(const Residency& r) {
  size_t best = r.valid.size();
  for (size_t i = 0; i < r.valid.size(); ++i) {
    if (!r.valid[i]) continue;
    if (best == r.valid.size() || !r.ready[i]) best = i;
  }
  return best;
}

HostLayout dense(const _cl_mem& mem) {
  const wire::Part part = mem.whole();
  return {0, part.region[0] * mem.element(), part.region[1], part.region[2]};
}

}  // namespace

void after_all(const std::vector<Ref<_cl_event>>& events, std::function<void(cl_int)> then) {
  struct Count {
    std::atomic<size_t> left;
    std::atomic<cl_int> worst{CL_COMPLETE};
    std::function<void(cl_int)> then;
  };
  auto count = std::make_shared<Count>();
  count->left = events.size() + 1;
  count->then = std::move(then);
  const auto ended = [count](cl_int status) {
    if (status < 0) count->worst = status;
    if (count->left.fetch_sub(1) == 1) count->then(count->worst);
  };
  for (const Ref<_cl_event>& e : events) {
    e->then(ended);
    e->subscribe();
  }
  ended(CL_COMPLETE);
}

void bring(_cl_mem& root, Place& to) {
  Residency& r = root.residency;
  if (r.ready[to.index] && r.ready[to.index]->ended()) {
    const bool good = r.ready[to.index]->status.load() == CL_COMPLETE;
    if (good) r.ready[to.index] = {};
  }
  if (r.valid[to.index]) return;
  const size_t source = best_source(r);
  r.valid[to.index] = true;
  if (source == r.valid.size()) return;  // nobody has written it
  auto move = std::make_shared<Move>();
  move->mem = Ref<_cl_mem>(&root);
  move->from = root.context->places[source].get();
  move->to = &to;
  move->from_name = root.at(*move->from);
  move->to_name = root.at(to);
  move->layout = dense(root);
  move->ready = make<_cl_event>(*root.context);
  std::vector<Ref<_cl_event>> before = r.writers;
  if (r.ready[source]) before.push_back(r.ready[source]);
  r.ready[to.index] = move->ready;
  after_all(before, [move](cl_int) { move->read(); });  // what failed has written what it has written
}

}  // namespace gt::virt
