#include "tracer/collect/threads.h"

#include <algorithm>
#include <utility>

namespace gt::tracer {

static std::vector<uint32_t> steps(const interpose::ThreadPath& path) {
  return {path.step, path.step + std::min(path.depth, interpose::ThreadPath::MostDepth)};
}

void Threads::put(uint32_t ring, TracedThread* thread) {
  if (ring >= by_ring_.size()) by_ring_.resize(ring + 1, nullptr);
  by_ring_[ring] = thread;
}

uint64_t& Threads::driver_sequence(uint32_t ring) {
  if (ring >= driver_sequences_.size()) driver_sequences_.resize(ring + 1, 0);
  return driver_sequences_[ring];
}

void Threads::ring_ended(uint32_t ring) {
  put(ring, nullptr);
  driver_sequence(ring) = 0;
}

// The thread whose first record from this ring this is.
TracedThread& Threads::meet(const RecordView& record) {
  TracedProcess& process = process_of(*record.owner);
  TracedThread*& in_thread_slot = thread_slots_[process.index][steps(record.owner->path)];
  if (!in_thread_slot || !in_thread_slot->ended) in_thread_slot = &add(process, *record.owner);
  begin_life(*in_thread_slot, *record.owner);
  in_thread_slot->sequence = std::exchange(driver_sequence(record.ring), 0);
  put(record.ring, in_thread_slot);
  return *in_thread_slot;
}

TracedThread& Threads::add(TracedProcess& process, const RingHeader& owner) {
  threads_.push_back(std::make_unique<TracedThread>());
  TracedThread& thread = *threads_.back();
  thread.id = static_cast<model::ThreadId>(trace_.threads.size());
  thread.process = &process;
  thread.path = owner.path;
  trace_.threads.push_back({process.index, owner.tid});
  return thread;
}

void Threads::begin_life(TracedThread& thread, const RingHeader& owner) {
  end_calls_(thread);
  thread.ended = false;
  thread.tid = owner.tid;
  thread.stack_low = owner.stack_low;
  thread.stack_high = owner.stack_high;
  thread.sequence = 0;
  thread.external.clear();
  thread.chunk.clear();
}

TracedProcess& Threads::process_of(const RingHeader& owner) {
  for (auto it = processes_.rbegin(); it != processes_.rend(); ++it) {
    if ((*it)->pid == owner.pid) return **it;
  }
  const auto index = static_cast<uint32_t>(processes_.size());
  model::Process row;
  row.pid = owner.pid;
  row.parent = index == 0 ? 0 : owner.parent_pid;
  row.start_ns = clock_.last_time();
  trace_.processes.push_back(row);
  thread_slots_.emplace_back();
  processes_.push_back(std::make_unique<TracedProcess>(index, owner.pid, trace_.modules));
  return *processes_.back();
}

void Threads::take_process(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  in.fixed64();
  in.fixed64();
  std::string_view text = as_text(in.raw(in.remaining()));
  model::Process& row = trace_.processes[thread.process->index];
  const size_t end = std::min(text.find('\0'), text.size());
  row.executable = text.substr(0, end);
  row.arguments.clear();
  text.remove_prefix(std::min(end + 1, text.size()));
  // Arguments end with a zero each; the list ends with an empty one (and padding).
  while (!text.empty() && text[0] != 0) {
    const size_t n = std::min(text.find('\0'), text.size());
    row.arguments.emplace_back(text.substr(0, n));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
}

bool Threads::take_module(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t base = in.fixed64(), end = in.fixed64();
  const std::string_view text = as_text(in.raw(in.remaining()));
  const size_t id_end = text.find('\0');
  if (!in.ok() || id_end == text.npos || base >= end) return false;
  std::string_view path = text.substr(id_end + 1);
  path = path.substr(0, std::min(path.find('\0'), path.size()));
  if (thread.process->modules.add(base, end, path, text.substr(0, id_end)))
    thread.process->forget_sites();
  return true;
}

void Threads::take_chunk(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const bool last = in.fixed64() != 0;
  const ByteView part = in.raw(std::min<uint64_t>(in.fixed64(), in.remaining()));
  thread.chunk.insert(thread.chunk.end(), part.begin(), part.end());
  if (last) thread.external.push_back(std::exchange(thread.chunk, {}));
}

}  // namespace gt::tracer
