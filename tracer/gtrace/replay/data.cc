#include "tracer/gtrace/replay/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "traces/api/host_rows.h"

namespace gt::tracer {

bool ReplayedData::fill(const ReplayedBytes& to, int64_t content) {
  if (!to.at || to.box.extent() == 0 || content < 0 || !world_.contents) return false;
  if (!world_.contents->has(content)) {
    world_.outcome.left_out("contents: what was sent is not in the file of contents");
    return false;
  }
  if (const Status s = world_.contents->read(content, bytes_); !s.ok()) {
    world_.outcome.left_out(fmt::format("contents: {}", s.text()));
    return false;
  }
  const bool changed = world_.addresses.to_here(bytes_);
  size_t at = 0;
  each_row(to.at, to.box, [&](uint8_t* row, size_t size) {
    const size_t n = std::min(size, bytes_.size() - at);
    if (n > 0) std::memcpy(row, bytes_.data() + at, n);
    at += n;
    return true;
  });
  return !changed;
}

void ReplayedData::compare(const ReplayedBytes& got, int64_t content, const ResultPlace& place) {
  const bool wanted = world_.compares && world_.measures.load(std::memory_order_relaxed) && world_.contents;
  if (!wanted || !got.at || got.box.extent() == 0 || content < 0 || !world_.contents->has(content)) return;
  if (const Status s = world_.contents->read(content, bytes_); !s.ok()) {
    world_.outcome.left_out(fmt::format("contents: {}", s.text()));
    return;
  }
  got_.clear();
  got_.reserve(bytes_.size());
  each_row(got.at, got.box, [this](const uint8_t* row, size_t size) {
    got_.insert(got_.end(), row, row + size);
    return true;
  });
  world_.addresses.to_recorded(got_);
  world_.outcome.compared(got_.size());
  const std::optional<Difference> d = gt::tracer::compare(bytes_, got_, place.type, world_.tolerance);
  if (!d) return;
  world_.outcome.differs({place.call, place.thread, place.shape, d->offset, d->differing, d->elements,
                          element_name(place.type), d->expected, d->got, place.object});
}

}  // namespace gt::tracer
