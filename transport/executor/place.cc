#include "transport/executor/place.h"

#include "transport/link/local_link.h"

namespace gt::exec {
namespace {

constexpr size_t MostSegments = 256;  // pinned; the rest is slower

// How far a segment reaches: the link says only what it lets through.
size_t extent_of(wire::Link& link, wire::SegmentId segment) {
  constexpr size_t Largest = size_t{1} << 46;
  if (!link.view({segment, 0}, 1)) return 0;
  size_t fits = 1;
  while (fits < Largest && link.view({segment, 0}, fits * 2)) fits *= 2;
  for (size_t step = fits / 2; step > 0; step /= 2)
    if (link.view({segment, 0}, fits + step)) fits += step;
  return fits;
}

}  // namespace

Place::Place(std::shared_ptr<Session> session, std::shared_ptr<Completions> completions, cl_context context,
             cl_device_id device)
    : x_session(std::move(session)), x_completions(std::move(completions)), x_context(context), x_device(device) {
  x_session->cl.clRetainContext(context);
}

Place::~Place() {
  if (x_write_queue) Completions::leave(*x_write_queue);
  if (x_reader) x_reader->close();
  x_segments.clear();
  x_inboxes.clear();
  x_session->cl.clReleaseContext(x_context);
}

std::shared_ptr<Queue> Place::make_queue() {
  cl_int err = CL_SUCCESS;
  cl_command_queue queue = x_session->cl.clCreateCommandQueue(x_context, x_device, 0, &err);
  return err == CL_SUCCESS && queue ? std::make_shared<Queue>(x_session->cl, queue, 0) : nullptr;
}

std::shared_ptr<Queue> Place::write_queue(void* inbox, size_t bytes) {
  if (!x_write_queue) x_write_queue = make_queue();
  std::unique_ptr<Pin>& pin = x_inboxes[inbox];
  if (!pin) pin = std::make_unique<Pin>(x_session->cl, x_context, inbox, bytes);
  return x_write_queue;
}

std::shared_ptr<Reader> Place::reader() {
  if (x_reader) return x_reader;
  std::shared_ptr<Queue> queue = make_queue();
  if (!queue) return nullptr;
  auto reader = std::make_shared<Reader>(x_session, x_completions, std::move(queue));
  if (!reader->open(reader, x_context)) return nullptr;
  return x_reader = std::move(reader);
}

void Place::pin_shared(wire::SegmentId segment) {
  const bool worth = x_session->options.pin_shared && segment != wire::WholeProcess;
  if (!worth || x_segments.contains(segment) || x_segments.size() >= MostSegments) return;
  const Outbox::Use use(x_session->out);
  if (!use.open()) return;
  const size_t bytes = extent_of(use.link(), segment);
  if (bytes == 0) return;
  void* const base = use.link().view({segment, 0}, bytes);
  x_segments[segment] = std::make_unique<Pin>(x_session->cl, x_context, base, bytes);
}

}  // namespace gt::exec
