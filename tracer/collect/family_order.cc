#include "tracer/collect/family_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gt::tracer {

namespace {

using interpose::ThreadPath;
using Order = std::vector<uint32_t>;  // old numbers in their new order

Order numbers(size_t n) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order inverse(const Order& order) {
  Order rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

template <class T>
void permute(std::vector<T>& items, const Order& order) {
  std::vector<T> out;
  out.reserve(items.size());
  for (const uint32_t old : order) out.push_back(std::move(items[old]));
  items = std::move(out);
}

// Pids from the first process's child down to `index`. A parent that was not recorded is the first process.
std::vector<int64_t> pids_down_to(const std::vector<model::Process>& processes, size_t index) {
  std::vector<int64_t> pids;
  while (index != 0 && pids.size() < processes.size()) {
    const model::Process& p = processes[index];
    pids.push_back(p.pid);
    // A pid may be another's by now: the parent came before its child.
    size_t parent = index;
    while (parent > 0 && processes[parent - 1].pid != p.parent) --parent;
    index = parent == 0 ? 0 : parent - 1;
  }
  std::reverse(pids.begin(), pids.end());
  return pids;
}

Order process_order(const std::vector<model::Process>& processes) {
  std::vector<std::vector<int64_t>> pids;
  for (size_t i = 0; i < processes.size(); ++i) pids.push_back(pids_down_to(processes, i));
  Order order = numbers(processes.size());
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return pids[a] < pids[b]; });
  return order;
}

std::span<const uint32_t> steps(const ThreadPath& path) {
  return {path.step, std::min(path.depth, ThreadPath::MostDepth)};
}

Order thread_order(const std::vector<model::Thread>& threads, std::span<const ThreadPath> paths) {
  Order order = numbers(threads.size());
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (threads[a].process != threads[b].process) return threads[a].process < threads[b].process;
    const auto x = steps(paths[a]), y = steps(paths[b]);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  return order;
}

}  // namespace

void put_in_family_order(model::Trace& trace, std::span<const ThreadPath> paths) {
  const Order processes = process_order(trace.processes), process_rank = inverse(processes);
  permute(trace.processes, processes);
  for (model::Module& m : trace.modules) m.process = process_rank[m.process];
  for (model::Thread& t : trace.threads) t.process = process_rank[t.process];

  const Order threads = thread_order(trace.threads, paths), rank = inverse(threads);
  permute(trace.threads, threads);
  for (model::Shape& s : trace.shapes) s.thread = rank[s.thread];
  for (model::Stream& s : trace.streams) s.thread = rank[s.thread];
  for (model::Class& c : trace.classes) c.thread = c.thread == model::NoIndex ? 0 : rank[c.thread];
  std::sort(trace.streams.begin(), trace.streams.end(), [](const model::Stream& a, const model::Stream& b) {
    return std::tie(a.thread, a.memory) < std::tie(b.thread, b.memory);
  });
}

}  // namespace gt::tracer
