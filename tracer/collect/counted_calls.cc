#include "tracer/collect/counted_calls.h"

#include <tuple>

namespace gt::tracer {

void CountedCalls::Sum::add(const CallCount& count) {
  calls += count.calls.load(std::memory_order_relaxed);
  bytes += count.bytes.load(std::memory_order_relaxed);
}

void CountedCalls::take(TracedProcess& process, const CallCounts& counts) {
  OfProcess& of = processes_[process.index];
  of.process = &process;
  std::map<uint64_t, Sum>& sums = of.sums;
  for (const CallCount& row : counts.rows) {
    if (const uint64_t key = row.key.load(std::memory_order_acquire)) sums[key].add(row);
  }
  if (counts.others.calls.load(std::memory_order_relaxed) != 0) sums[0].add(counts.others);
}

// A key is what another process wrote: what makes no sense belongs to the others.
model::MemoryDetail CountedCalls::rows(const std::function<bool(const TracedProcess&)>& listed, uint64_t& unlisted) {
  std::map<std::tuple<model::SiteId, model::FnId, unsigned>, Sum> rows;
  model::MemoryDetail out;
  for (const auto& [index, of] : processes_) {
    const bool in_list = listed(*of.process);
    for (const auto& [key, sum] : of.sums) {
      if (!in_list) {
        unlisted += sum.calls;
      } else if (key == 0 || fn_in(key) >= static_cast<uint16_t>(api::AllocFn::Count) || size_class_in(key) > 64) {
        out.other_calls += sum.calls;
        out.other_bytes += sum.bytes;
      } else {
        Sum& row = rows[{tables_.site_of(*of.process, site_in(key)), fn_in(key), size_class_in(key)}];
        row.calls += sum.calls;
        row.bytes += sum.bytes;
      }
    }
  }
  for (const auto& [row, sum] : rows)
    out.rows.push_back({std::get<0>(row), std::get<1>(row), std::get<2>(row), sum.calls, sum.bytes});
  return out;
}

void clear(CallCounts& counts) {
  for (CallCount& row : counts.rows) {
    if (row.key.load(std::memory_order_relaxed) == 0) continue;
    row.calls.store(0, std::memory_order_relaxed);
    row.bytes.store(0, std::memory_order_relaxed);
    row.key.store(0, std::memory_order_relaxed);
  }
  counts.others.calls.store(0, std::memory_order_relaxed);
  counts.others.bytes.store(0, std::memory_order_relaxed);
}

}  // namespace gt::tracer
