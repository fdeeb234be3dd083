// Events and their times, side by side.
#include "analyzer/remote/call_gaps.h"

#include "traces/model/fold/fold.h"
#include "traces/model/folded/timeline.h"

namespace gt::analyzer {
namespace {

constexpr uint64_t MostEvents = 1 << 21;  // of each stream

struct Sums {
  std::vector<double> ns;
  std::vector<uint64_t> calls;
};

void add_stream(const model::Stream& stream, std::span<const int> value_counts, Sums& sums) {
  auto times = model::TimelineReader::open(stream.timeline);
  if (!times) return;
  uint64_t events = 0, last_exit = 0;
  bool known = false;  // the end of the call before
  (void)model::expand(stream.nodes, value_counts, [&](model::ShapeId shape, std::span<const int64_t>) {
    model::EventTime t;
    if (!times->next(t) || ++events > MostEvents) return false;
    if (known) {
      sums.ns[shape] += t.entry_ns > last_exit ? static_cast<double>(t.entry_ns - last_exit) : 0;
      ++sums.calls[shape];
    }
    known = t.duration_ns.has_value();
    last_exit = t.entry_ns + t.duration_ns.value_or(0);
    return true;
  });
}

bool was_cut(const model::Stream& stream) {
  for (const model::Node& n : stream.nodes)
    if (n.kind == model::Node::Kind::Summary) return true;
  return false;
}

}  // namespace

std::vector<double> find_call_gaps(const model::Trace& trace) {
  std::vector<int> value_counts;
  for (const model::Shape& s : trace.shapes) value_counts.push_back(s.values());
  Sums sums{std::vector<double>(trace.shapes.size()), std::vector<uint64_t>(trace.shapes.size())};
  bool any = false;
  for (const model::Stream& stream : trace.streams) {
    // A stream with calls left out has times that belong to other calls.
    if (stream.memory || stream.timeline.empty() || was_cut(stream)) continue;
    any = true;
    add_stream(stream, value_counts, sums);
  }
  if (!any) return {};
  for (size_t i = 0; i < sums.ns.size(); ++i)
    if (sums.calls[i] > 0) sums.ns[i] /= static_cast<double>(sums.calls[i]);
  return std::move(sums.ns);
}

}  // namespace gt::analyzer
