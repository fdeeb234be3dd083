#include "transport/executor/transfer/device_streams.h"

#include <utility>


namespace gt::exec {

DeviceStreams::DeviceStreams(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter,
                             cl_context context, cl_device_id device)
    : session_(std::move(session)), event_waiter_(std::move(event_waiter)), context_(context), device_(device) {
  session_->cl.clRetainContext(context);
}

DeviceStreams::~DeviceStreams() {
  if (write_queue_) EventWaiter::leave(*write_queue_);
  if (reader_) reader_->close();
  inboxes_.clear();
  ring_.reset();
  session_->cl.clReleaseContext(context_);
}

std::shared_ptr<Queue> DeviceStreams::make_queue() {
  cl_int err = CL_SUCCESS;
  cl_command_queue queue = session_->cl.clCreateCommandQueue(context_, device_, 0, &err);
  return err == CL_SUCCESS && queue ? std::make_shared<Queue>(session_->cl, queue, 0) : nullptr;
}

void DeviceStreams::prepare(std::shared_ptr<Inbox> inbox, const BounceBuffer& ring) {
  constexpr size_t StackBytes = size_t{512} << 10;
  if (std::exchange(prepared_, true)) return;
  preparing_ = true;
  const auto make = [self = shared_from_this(), inbox = std::move(inbox), base = ring.base(), bytes = ring.bytes()] {
    if (bytes != 0) self->ring_ = std::make_unique<Pin>(self->session_->cl, self->context_, base, bytes);
    if (inbox->base()) self->make_write_queue(inbox->base(), inbox->bytes());
    self->make_reader();
    self->preparing_ = false;
    self->preparing_.notify_all();
  };
  if (!session_->threads.start("gtrace-prepare", StackBytes, make)) preparing_ = false;
}

void DeviceStreams::make_write_queue(void* inbox, size_t bytes) {
  if (!write_queue_) write_queue_ = make_queue();
  std::unique_ptr<Pin>& pin = inboxes_[inbox];
  if (!pin) pin = std::make_unique<Pin>(session_->cl, context_, inbox, bytes);
}

std::shared_ptr<Queue> DeviceStreams::write_queue(void* inbox, size_t bytes) {
  preparing_.wait(true);
  make_write_queue(inbox, bytes);
  return write_queue_;
}

std::shared_ptr<PinnedRing> DeviceStreams::small_memory() {
  if (!std::exchange(small_memory_wanted_, true)) {
    small_memory_ = std::make_shared<PinnedRing>(session_);
    if (!small_memory_->open(context_)) small_memory_.reset();
  }
  return small_memory_;
}

void DeviceStreams::make_reader() {
  if (reader_) return;
  std::shared_ptr<Queue> queue = make_queue();
  if (!queue) return;
  auto reader = std::make_shared<Reader>(session_, event_waiter_, std::move(queue));
  if (reader->open(reader, context_)) reader_ = std::move(reader);
}

std::shared_ptr<Reader> DeviceStreams::reader() {
  preparing_.wait(true);
  make_reader();
  return reader_;
}

}  // namespace gt::exec
