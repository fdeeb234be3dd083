#include "transport/executor/transfer/device_streams.h"

#include <utility>


namespace gt::exec {

DeviceStreams::DeviceStreams(std::shared_ptr<Session> session, std::shared_ptr<EventWaiter> event_waiter,
                             cl_context context, cl_device_id device)
    : x_session(std::move(session)), x_event_waiter(std::move(event_waiter)), x_context(context), x_device(device) {
  x_session->cl.clRetainContext(context);
}

DeviceStreams::~DeviceStreams() {
  if (x_write_queue) EventWaiter::leave(*x_write_queue);
  if (x_reader) x_reader->close();
  x_inboxes.clear();
  x_ring.reset();
  x_session->cl.clReleaseContext(x_context);
}

std::shared_ptr<Queue> DeviceStreams::make_queue() {
  cl_int err = CL_SUCCESS;
  cl_command_queue queue = x_session->cl.clCreateCommandQueue(x_context, x_device, 0, &err);
  return err == CL_SUCCESS && queue ? std::make_shared<Queue>(x_session->cl, queue, 0) : nullptr;
}

void DeviceStreams::prepare(std::shared_ptr<Inbox> inbox, const BounceBuffer& ring) {
  constexpr size_t StackBytes = size_t{512} << 10;
  if (std::exchange(x_prepared, true)) return;
  x_preparing = true;
  const auto make = [self = shared_from_this(), inbox = std::move(inbox), base = ring.base(), bytes = ring.bytes()] {
    if (bytes != 0) self->x_ring = std::make_unique<Pin>(self->x_session->cl, self->x_context, base, bytes);
    if (inbox->base()) self->make_write_queue(inbox->base(), inbox->bytes());
    self->make_reader();
    self->x_preparing = false;
    self->x_preparing.notify_all();
  };
  if (!x_session->threads.start("gtrace-prepare", StackBytes, make)) x_preparing = false;
}

void DeviceStreams::make_write_queue(void* inbox, size_t bytes) {
  if (!x_write_queue) x_write_queue = make_queue();
  std::unique_ptr<Pin>& pin = x_inboxes[inbox];
  if (!pin) pin = std::make_unique<Pin>(x_session->cl, x_context, inbox, bytes);
}

std::shared_ptr<Queue> DeviceStreams::write_queue(void* inbox, size_t bytes) {
  x_preparing.wait(true);
  make_write_queue(inbox, bytes);
  return x_write_queue;
}

std::shared_ptr<PinnedRing> DeviceStreams::small_memory() {
  if (!std::exchange(x_small_memory_wanted, true)) {
    x_small_memory = std::make_shared<PinnedRing>(x_session);
    if (!x_small_memory->open(x_context)) x_small_memory.reset();
  }
  return x_small_memory;
}

void DeviceStreams::make_reader() {
  if (x_reader) return;
  std::shared_ptr<Queue> queue = make_queue();
  if (!queue) return;
  auto reader = std::make_shared<Reader>(x_session, x_event_waiter, std::move(queue));
  if (reader->open(reader, x_context)) x_reader = std::move(reader);
}

std::shared_ptr<Reader> DeviceStreams::reader() {
  x_preparing.wait(true);
  make_reader();
  return x_reader;
}

}  // namespace gt::exec
