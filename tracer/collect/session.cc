#include "tracer/collect/session.h"

#include <time.h>

#include <fmt/format.h>

#include "tracer/collect/record_cost.h"
#include "tracer/collect/timing.h"

namespace gt::tracer {

namespace {

uint64_t own_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

Session::Session(SpoolReader reader)
    : reader_(std::move(reader)),
      collector_(reader_.header().ns_per_tick, reader_.header().start_ticks),
      cpu_begin_ns_(own_cpu_ns()) {}

Session::~Session() {
  if (!keep_) reader_.remove();
}

Result<std::unique_ptr<Session>> Session::begin(const SpoolReader::Options& options) {
  Result<SpoolReader> reader = SpoolReader::create(options);
  if (!reader) return reader.status();
  return std::unique_ptr<Session>(new Session(std::move(*reader)));
}

Result<std::unique_ptr<Session>> Session::recover(const std::string& spool_path) {
  Result<SpoolReader> reader = SpoolReader::open(spool_path);
  if (!reader) return reader.status();
  std::unique_ptr<Session> session(new Session(std::move(*reader)));
  session->keep_ = true;
  return session;
}

uint64_t Session::pump() {
  const uint64_t given = reader_.read([this](const RecordView& record) { collector_.take(record); });
  records_ += given;
  if (++pumps_ % 64 == 0 || given == 0) {
    reader_.recycle([this](uint32_t ring) { collector_.ring_ended(ring); });
  }
  return given;
}

model::Trace Session::finish() {
  reader_.header().off.store(1, std::memory_order_relaxed);
  records_ += reader_.read([this](const RecordView& record) { collector_.take(record); }, true);
  model::Trace trace = collector_.finish();
  add_facts(trace);
  return trace;
}

void Session::add_facts(model::Trace& trace) {
  SpoolHeader& header = reader_.header();
  const auto fact = [&](const char* name, uint64_t value) {
    trace.facts.emplace_back(name, fmt::format("{}", value));
  };
  uint64_t wait = 0, harvest = 0, unrecorded = 0, bytes = 0;
  for (uint32_t i = 0; i < reader_.rings_used(); ++i) {
    const RingHeader& ring = reader_.ring(i);
    wait += ring.wait_ticks.load(std::memory_order_relaxed);
    bytes += ring.head.load(std::memory_order_relaxed);
    harvest += ring.harvest_ticks.load(std::memory_order_relaxed);
    unrecorded += ring.unrecorded.load(std::memory_order_relaxed);
  }
  const auto ns = [&](uint64_t t) {
    return static_cast<uint64_t>(static_cast<double>(t) * header.ns_per_tick);
  };
  trace.facts.emplace_back("timing", timing_text({header.timing, header.sample}));
  trace.facts.emplace_back("capture", "none");
  fact("lost.calls_inside_signal_handlers", unrecorded);
  fact("lost.threads_without_ring", header.threads_without_ring.load(std::memory_order_relaxed));
  fact("lost.damaged_rings", reader_.damaged_rings());
  fact("overhead.wait_ns", ns(wait));            // the program waited for the collector
  fact("overhead.device_time_ns", ns(harvest));  // the program's threads read device timestamps
  fact("overhead.records_ns", static_cast<uint64_t>(static_cast<double>(records_) * measure_record_ns()));  // estimate
  fact("overhead.collector_cpu_ns", own_cpu_ns() - cpu_begin_ns_);
  fact("records", records_);
  fact("record_bytes", bytes);
}

}  // namespace gt::tracer
