#include "tracer/collect/session.h"

#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>

#include "tracer/collect/record_cost.h"
#include "tracer/collect/timing.h"

namespace gt::tracer {

namespace {

uint64_t cpu_ns_of(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto ns = [](const timeval& t) { return static_cast<uint64_t>(t.tv_sec * 1'000'000 + t.tv_usec) * 1000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// Without the rings and segments that it has read, which are the program's records.
uint64_t peak_bytes(const SpoolHeader& spool) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const uint64_t resident = static_cast<uint64_t>(used.ru_maxrss) * 1024;
  const uint64_t records = (spool.rings_used.load() + spool.segments_used.load()) * spool.ring_bytes;
  return resident - std::min(resident, records);
}

// Which calls' data was wanted, where not all was.
void add_choice_facts(const SpoolHeader& header, model::Trace& trace) {
  const CaptureChoice& choice = header.choice;
  if (header.capture != Capture::Full) return;
  if (choice.results) trace.facts.emplace_back("capture.results", "1");
  if (choice.part == CapturePart::All) return;
  const std::string_view kernel(choice.kernel, sizeof choice.kernel);  // a traced process may write here
  trace.facts.emplace_back("capture.part", choice.part == CapturePart::Range
                                               ? fmt::format("calls {}..{}", choice.first, choice.last)
                                               : fmt::format("kernel {}#{}", kernel.substr(0, kernel.find('\0')),
                                                             choice.nth));
  trace.facts.emplace_back("capture.chosen", fmt::format("{}", header.chosen_calls.load(std::memory_order_relaxed)));
}

uint64_t all_cpu_ns() { return cpu_ns_of(RUSAGE_SELF) + cpu_ns_of(RUSAGE_CHILDREN); }

}  // namespace

Session::Session(SpoolReader reader)
    : reader_(std::move(reader)),
      collector_(reader_.header().ns_per_tick, reader_.header().start_ticks),
      backlog_(reader_, {[this](const RecordView& record) { collector_.take(record); },
                         [this](uint32_t ring, const RingHeader& header, const CallCounts* counts) {
                           if (counts) collector_.take_counts(header, *counts);
                           collector_.ring_ended(ring);
                         }}),
      cpu_begin_ns_(all_cpu_ns()) {
  collector_.limit_size(reader_.header().max_trace_bytes);
  collector_.list_from(reader_.header().listed_from);
}

Session::~Session() { remove_spool(); }

void Session::remove_spool() {
  if (!keep_) discard();
}

void Session::discard() {
  backlog_.remove_file();
  reader_.remove();
}

Result<std::unique_ptr<Session>> Session::recover(const std::string& spool_path) {
  Result<SpoolReader> reader = SpoolReader::open(spool_path);
  if (!reader) return reader.status();
  std::unique_ptr<Session> session(new Session(std::move(*reader)));
  session->recovers_ = session->keep_ = true;
  session->backlog_.recover();
  session->program_ended();
  return session;
}

uint64_t Session::pump(uint64_t most) {
  const uint64_t given = backlog_.take(most);
  records_ += given;
  if (given < most) collector_.commit_contents();  // nobody waits
  header().calls.store(collector_.calls(), std::memory_order_relaxed);
  header().memory_calls.store(collector_.memory_calls(), std::memory_order_relaxed);
  return given;
}

void Session::take_counts() {
  for (uint32_t ring = 0; ring < reader_.rings_used(); ++ring) {
    if (const CallCounts* const counted = reader_.counts(ring)) collector_.take_counts(reader_.ring(ring), *counted);
  }
  collector_.note_uncounted(header().uncounted_processes.load(std::memory_order_relaxed));
}

uint64_t Session::cpu_ns() const { return all_cpu_ns() - cpu_begin_ns_; }

model::Trace Session::finish() {
  header().off.store(RecordingEnded, std::memory_order_relaxed);
  records_ += backlog_.take_all();
  take_counts();
  collector_.close_contents();
  model::Trace trace = collector_.finish();
  add_facts(trace, recovers_ ? "recovered" : "complete", cpu_ns());
  return trace;
}

model::Trace Session::snapshot(uint64_t cpu_ns) {
  take_counts();
  model::Trace trace = collector_.finish();
  add_facts(trace, "running", cpu_ns);
  return trace;
}

void Session::add_facts(model::Trace& trace, const char* state, uint64_t cpu_ns) {
  SpoolHeader& header = reader_.header();
  const auto fact = [&](const char* name, uint64_t value) { trace.facts.emplace_back(name, fmt::format("{}", value)); };
  uint64_t wait = 0, harvest = 0, unrecorded = 0, bytes = 0;
  for (uint32_t i = 0; i < reader_.rings_used(); ++i) {
    const RingHeader& ring = reader_.ring(i);
    wait += ring.wait_ticks.load(std::memory_order_relaxed);
    bytes += ring.head.load(std::memory_order_relaxed);
    harvest += ring.harvest_ticks.load(std::memory_order_relaxed);
    unrecorded += ring.unrecorded.load(std::memory_order_relaxed);
  }
  const auto ns = [&](uint64_t t) { return static_cast<uint64_t>(static_cast<double>(t) * header.ns_per_tick); };
  trace.facts.emplace_back("recording", state);
  fact("pauses", header.pauses.load(std::memory_order_relaxed));
  trace.facts.emplace_back("timing", timing_text({header.timing, header.sample}));
  trace.facts.emplace_back("capture", header.capture == Capture::Full   ? "full"
                                      : header.capture == Capture::Hash ? "hash"
                                                                        : "none");
  add_choice_facts(header, trace);
  header.folder[sizeof header.folder - 1] = 0;  // a traced process may write here
  if (header.folder[0] == '/') trace.facts.emplace_back("folder", header.folder);
  fact("lost.calls_inside_signal_handlers", unrecorded);
  fact("lost.threads_without_ring", header.threads_without_ring.load(std::memory_order_relaxed));
  fact("lost.programs_not_followed", header.not_followed.load(std::memory_order_relaxed));
  const std::string_view first(header.not_followed_first, sizeof header.not_followed_first);
  if (first[0] != 0) trace.facts.emplace_back("programs_not_followed.first", first.substr(0, first.find('\0')));
  fact("lost.damaged_rings", reader_.damaged_rings());
  fact("lost.spilled_pieces", backlog_.lost_pieces());
  fact("overhead.wait_ns", ns(wait));            // the program waited for the collector
  fact("overhead.device_time_ns", ns(harvest));  // the program's threads read device timestamps
  fact("overhead.records_ns", static_cast<uint64_t>(static_cast<double>(records_) * measure_record_ns()));  // estimate
  fact("overhead.collector_cpu_ns", cpu_ns);
  fact("collector_peak_bytes", peak_bytes(header));
  fact("records", records_);
  fact("record_bytes", bytes);
  fact("spilled_bytes", backlog_.spilled_bytes());
}

}  // namespace gt::tracer
