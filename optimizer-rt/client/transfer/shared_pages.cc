#include "optimizer-rt/client/transfer/shared_pages.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "optimizer-rt/client/objects/event.h"
#include "optimizer-rt/client/objects/queue.h"
#include "optimizer-rt/client/pages/tracked_range.h"
#include "optimizer-rt/client/transfer/transfer.h"

namespace gt::virt {
namespace {

constexpr size_t MostUntold = 64;  // events of an out-of-order queue that nobody has asked about

// A touch has no way to fail, and a program that calls nothing more would never know what it computes with. Once a
// process.
void say_stale(const Session& session) {
  static std::atomic<bool> said{false};
  if (session.alive() || said.exchange(true)) return;
  const std::string line =
      "gtrace: " + session.url() + " is lost: memory that its devices wrote, and that was not here yet, is as it was\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

class SharedPages final : public KeptInStep {
 public:
  SharedPages(SubContext& sub_context, Used used, ObjectId name, uint64_t before)
      : sub_context_(sub_context),
        name_(name),
        before_(before),
        beside_commands_(used == Used::BesideCommands),
        used_(used != Used::WhenTouched) {}
  bool take(uint64_t base, size_t bytes);
  bool is_used() const override { return used_.load(std::memory_order_acquire); }
  int hold() override { return beside_commands_ ? range_->hold() : -1; }
  void release(int held) override { range_->release(held); }
  void send(const std::shared_ptr<SvmBlock>& block, size_t offset, size_t bytes,
            std::vector<Ref<_cl_event>>& after) override;
  void written_by(const Ref<_cl_event>& command, size_t offset, size_t bytes) override;
  void give_up() override;
  void forget_ended() override;

 private:
  Transfer transfer(size_t offset, size_t bytes) const;
  bool fetch(size_t offset, void* into, size_t bytes);
  void wait_for_writers();
  void begin_to_use();

  SubContext& sub_context_;
  const ObjectId name_;
  const uint64_t before_;  // bytes of the driver's before the first page
  const bool beside_commands_;
  std::atomic<bool> used_;
  std::once_flag begun_;
  Mutex sending_;  // so that who finds nothing to send waits for what another thread is sending
  Ref<_cl_event> sent_ GT_GUARDED_BY(sending_);
  bool is_gone_ GT_GUARDED_BY(sending_) = false;  // the device's memory
  Mutex mutex_;
  std::vector<Ref<_cl_event>> writers_ GT_GUARDED_BY(mutex_);  // the last one of each queue that has an order
  std::unique_ptr<TrackedRange> range_;                        // the last member: its threads use the others
};

bool SharedPages::take(uint64_t base, size_t bytes) {
  TrackedRange::Setup setup;
  setup.at = reinterpret_cast<void*>(base);
  setup.bytes = bytes;
  setup.fetch = [this](size_t offset, void* into, size_t n) { return fetch(offset, into, n); };
  Result<std::unique_ptr<TrackedRange>> made = TrackedRange::make(std::move(setup));
  if (!made.ok()) return false;
  range_ = std::move(*made);
  if (!used_) range_->invalidate();  // the device's, until it is touched
  return true;
}

Transfer SharedPages::transfer(size_t offset, size_t bytes) const {
  static const Ids None;
  return {sub_context_, sub_context_.shared_queue(), name_, copy::range(before_ + offset, bytes), 1, {0, bytes}, None,
          nullptr, true};
}

void SharedPages::send(const std::shared_ptr<SvmBlock>& block, size_t offset, size_t bytes,
                       std::vector<Ref<_cl_event>>& after) {
  const MutexLock lock(sending_);
  Ref<_cl_event> last;
  if (is_gone_) return;
  if (range_->may_be_dirty())
    range_->take_dirty(offset, bytes, [&](size_t at, size_t n, const void* from) {
      last = make<_cl_event>(sub_context_.context, sub_context_);
      send_write(transfer(at, n), from, last.get(), Until::Sent, block);
    });
  if (last) {
    last->subscribe();
    sent_ = std::move(last);
  }
  if (sent_ && sent_->ended()) sent_ = {};
  if (sent_) after.push_back(sent_);
}

void SharedPages::written_by(const Ref<_cl_event>& command, size_t offset, size_t bytes) {
  bool many = false;
  {
    const MutexLock lock(mutex_);
    const _cl_command_queue* const queue = command->queue.get();
    const bool ordered = queue && !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    std::erase_if(writers_, [&](const Ref<_cl_event>& earlier) {
      return earlier->ended() || earlier->ended_by_finish() || (ordered && earlier->queue.get() == queue);
    });
    writers_.push_back(command);
    many = writers_.size() > MostUntold;
  }
  if (many) command->subscribe();  // else nobody may ever know that they have ended
  range_->invalidate(offset, bytes);
}

void SharedPages::give_up() {
  const MutexLock lock(sending_);
  is_gone_ = true;
}

void SharedPages::forget_ended() {
  std::vector<Ref<_cl_event>> gone;  // when no lock is held
  {
    const MutexLock lock(sending_);
    if (sent_ && sent_->ended()) gone.push_back(std::move(sent_));
  }
  const MutexLock lock(mutex_);
  for (Ref<_cl_event>& writer : writers_)
    if (writer->ended() || writer->ended_by_finish()) gone.push_back(std::move(writer));
  std::erase_if(writers_, [](const Ref<_cl_event>& writer) { return !writer; });
}

// Commands that were sent before have not said whether they write it. Of a queue that the program holds up by a user
// event nothing is waited for: it may be this thread that would set it.
void SharedPages::begin_to_use() {
  if (used_.exchange(true)) return;
  for (const Ref<_cl_command_queue>& queue : sub_context_.context.living_queues())
    if (&queue->sub_context == &sub_context_ && !queue->is_behind_gates()) queue->wait_for_all();
}

void SharedPages::wait_for_writers() {
  std::call_once(begun_, [this] { begin_to_use(); });
  std::vector<Ref<_cl_event>> writers;
  {
    const MutexLock lock(mutex_);
    writers = writers_;
  }
  for (const Ref<_cl_event>& writer : writers) writer->wait();
}

bool SharedPages::fetch(size_t offset, void* into, size_t bytes) {
  bool good = false;
  try {
    wait_for_writers();
    // A page that another thread has just taken, for a launch of its own, is on its way before it is read.
    { const MutexLock lock(sending_); }
    const Ref<_cl_event> read = make<_cl_event>(sub_context_.context, sub_context_);
    send_read(transfer(offset, bytes), into, *read);
    good = read->wait() == CL_COMPLETE;
  } catch (const Failure&) {  // the link is closed
  } catch (const std::bad_alloc&) {
  }
  if (!good) say_stale(sub_context_.session);
  return good;
}

}  // namespace

std::unique_ptr<KeptInStep> keep_in_step(SubContext& sub_context, Used used, ObjectId name, uint64_t native,
                                         uint64_t base, size_t bytes) {
  auto pages = std::make_unique<SharedPages>(sub_context, used, name, base - native);
  if (!pages->take(base, bytes)) return nullptr;
  return pages;
}

void make_present(const void* p, size_t bytes, bool to_write) {
  TrackedRange* const range = TrackedRange::find(p);
  if (!range) return;
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(p) - range->program_view());
  range->bring(offset, std::min(bytes, range->bytes() - offset),
               to_write ? TrackedRange::For::Writing : TrackedRange::For::Reading);
}

}  // namespace gt::virt
