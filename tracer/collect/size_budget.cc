#include "tracer/collect/size_budget.h"

#include <algorithm>
#include <vector>

namespace gt::tracer {

namespace {

using model::Folder;
using model::Node;
using model::Series;

uint64_t stored(std::span<Folder* const> streams) {
  uint64_t n = 0;
  for (const Folder* f : streams) n += f->stored_bytes();
  return n;
}

uint64_t values_summarised(const Series& s) {
  if (s.kind == Series::Kind::Affine) return values_summarised(s.base()) + values_summarised(s.step());
  return s.kind == Series::Kind::Column && s.column().summarised() ? s.column().size : 0;
}

void add(std::span<const Node> nodes, uint64_t& calls, uint64_t& values) {
  for (const Node& node : nodes) {
    if (node.kind == Node::Kind::Summary) calls += static_cast<uint64_t>(node.count.value);
    for (const Series& s : node.values) values += values_summarised(s);
    add(node.body, calls, values);
  }
}

}  // namespace

void SizeBudget::enforce(std::span<Folder* const> streams, const model::Trace& tables,
                         uint64_t content_bytes) const {
  if (!limited()) return;
  // Cutting to three quarters at a time, so that it is not done again at once.
  const uint64_t fixed = table_bytes(tables) + content_bytes;
  const uint64_t room = max_bytes_ > fixed ? max_bytes_ - fixed : 0, aim = room - room / 4;
  if (stored(streams) <= room) return;
  for (Folder* f : streams) f->summarise_values();
  std::vector<Folder*> largest(streams.begin(), streams.end());
  for (uint64_t now = stored(streams); now > aim; now = stored(streams)) {
    Folder* most = *std::max_element(largest.begin(), largest.end(),
                                     [](Folder* a, Folder* b) { return a->stored_bytes() < b->stored_bytes(); });
    const uint64_t before = most->stored_bytes();
    most->summarise_oldest(std::min(now - aim, before));
    if (most->stored_bytes() >= before) return;  // nothing of it is left to leave out
  }
}

uint64_t table_bytes(const model::Trace& trace) {
  constexpr uint64_t Empty = 100'000;  // a file with one row in every table
  constexpr uint64_t Row = 30, Arg = 8, Histograms = 60;
  uint64_t n = Empty + Row * (trace.sites.size() + trace.classes.size() + trace.modules.size());
  for (const model::Blob& b : trace.blobs) n += Row + b.bytes.size();
  for (const model::Shape& s : trace.shapes) n += Row + Histograms + Arg * s.args.size();
  return n;
}

Summarised summarised(const model::Trace& trace) {
  Summarised out;
  for (const model::Stream& s : trace.streams) add(s.nodes, s.memory ? out.memory_calls : out.calls, out.values);
  return out;
}

}  // namespace gt::tracer
