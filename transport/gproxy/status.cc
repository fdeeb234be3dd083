#include "transport/gproxy/status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace gt::proxy {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t Second_ns = 1'000'000'000;

Json json_of(const DeviceFacts& d) {
  return {{"number", d.number}, {"name", d.name}, {"type", d.type}, {"platform", d.platform},
          {"memory_bytes", d.memory_bytes}};
}

// Of the devices that a session has had queues on.
Json devices_of(const WorkerProcess& worker) {
  Json numbers = Json::array();
  const uint64_t used = worker.counters().devices;
  for (unsigned n = 0; n < 64; ++n)
    if (used >> n & 1) numbers.push_back(n);
  return numbers;
}

Json json_of(const WorkerProcess& worker, uint64_t now_ns) {
  Json session = {{"session", worker.session_number()},
                  {"peer", worker.caller_name()},
                  {"devices", devices_of(worker)},
                  {"age_s", (now_ns - worker.begun_ns()) / Second_ns},
                  {"pid", worker.pid()}};
  for (const exec::CounterRow& row : exec::CounterRows)
    session[row.status] = worker.counters().counters.*row.live / row.unit;
  return session;
}

std::string readable_bytes(uint64_t bytes) {
  constexpr const char* Units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, Units[unit]);
}

std::string session_row(const Json& s) {
  const auto bytes = [&](const char* name) { return readable_bytes(s.at(name).get<uint64_t>()); };
  const auto numbers = s.at("devices").get<std::vector<unsigned>>();
  const std::string devices = fmt::format("{}", fmt::join(numbers, ","));
  const double build_s = static_cast<double>(s.at("build_ms").get<uint64_t>()) / 1000;
  return fmt::format("{:>7}  {:<28} {:>7} {:>6} s {:>10} {:>6.1f} s {:>11} {:>11} {:>9} {:>11} {:>11}\n",
                     s.at("session").get<uint64_t>(), s.at("peer").get<std::string>(), numbers.empty() ? "-" : devices,
                     s.at("age_s").get<uint64_t>(), s.at("launches").get<uint64_t>(), build_s, bytes("bytes_in"),
                     bytes("bytes_out"), s.at("objects").get<uint64_t>(), bytes("memory_bytes"),
                     bytes("in_flight_bytes"));
}

// What clients did not have to send; empty: none came by name, and nothing is kept.
std::string kept_line(const Json& all) {
  const auto bytes = [&](const char* name) { return all.at(name).get<uint64_t>(); };
  const uint64_t known = bytes("known_bytes_total"), kept = bytes("kept_bytes_total");
  if (known + kept == 0) return "";
  return fmt::format("{} were kept here and not sent again; {} were kept since the start\n", readable_bytes(known),
                     readable_bytes(kept));
}

// What was sent and read as fewer bytes; empty: nothing.
std::string packed_line(const Json& all) {
  const auto bytes = [&](const char* name) { return all.at(name).get<uint64_t>(); };
  const uint64_t in = bytes("packed_bytes_in_total"), out = bytes("packed_bytes_out_total");
  if (in + out == 0) return "";
  return fmt::format("compressed: {} not received, {} not sent\n", readable_bytes(in), readable_bytes(out));
}

class Metrics {
 public:
  void add(std::string_view name, const char* type, const char* help, uint64_t value) {
    head(name, type, help);
    text_ += fmt::format("gproxy_{} {}\n", name, value);
  }
  void head(std::string_view name, const char* type, const char* help) {
    text_ += fmt::format("# HELP gproxy_{} {}\n# TYPE gproxy_{} {}\n", name, help, name, type);
  }
  void of_session(std::string_view name, uint64_t session, uint64_t value) {
    text_ += fmt::format("gproxy_{}{{session=\"{}\"}} {}\n", name, session, value);
  }
  void of_device(const char* name, uint64_t session, unsigned device) {
    text_ += fmt::format("gproxy_{}{{session=\"{}\",device=\"{}\"}} 1\n", name, session, device);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_totals(Metrics& m, const exec::Counters& totals) {
  for (const exec::CounterRow& row : exec::CounterRows) {
    if (row.shown != exec::Shown::Metric && row.shown != exec::Shown::Total) continue;
    m.add(fmt::format("{}_total", row.metric), "counter", row.help, totals.*row.value / row.unit);
  }
}

// One metric of every session that runs.
void add_of_sessions(Metrics& m, const WorkerPool& pool, const exec::CounterRow& row) {
  const std::string name = fmt::format("session_{}", row.metric);
  m.head(name, "gauge", row.help);
  for (const auto& [pid, worker] : pool.workers()) {
    if (worker->state() != WorkerProcess::State::Serving) continue;
    m.of_session(name, worker->session_number(), worker->counters().counters.*row.live / row.unit);
  }
}

}  // namespace

std::string status_json(const ProxyFacts& facts, const WorkerPool& pool, const Moment& moment) {
  Json devices = Json::array(), sessions = Json::array();
  for (const DeviceFacts& d : facts.devices) devices.push_back(json_of(d));
  for (const auto& [pid, worker] : pool.workers()) {
    if (worker->state() == WorkerProcess::State::Serving) sessions.push_back(json_of(*worker, moment.now_ns));
  }
  const Totals totals = pool.totals();
  Json all = {{"version", GT_VERSION},
              {"pid", ::getpid()},
              {"uptime_s", (moment.now_ns - facts.started_ns) / Second_ns},
              {"draining", moment.draining},
              {"urls", facts.urls},
              {"devices", devices},
              {"sessions", sessions},
              {"max_clients", facts.most_sessions},
              {"sessions_total", totals.sessions},
              {"refused_total", totals.refused},
              {"turned_away_total", moment.turned_away},
              {"died_total", totals.died}};
  for (const exec::CounterRow& row : exec::CounterRows) {
    if (row.shown != exec::Shown::Total) continue;
    all[fmt::format("{}_total", row.status)] = totals.counters.*row.value / row.unit;
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_text(const ProxyFacts& facts, const WorkerPool& pool, const Moment& moment) {
  const Totals totals = pool.totals();
  Metrics m;
  m.add("uptime_seconds", "gauge", "Since the proxy was started.", (moment.now_ns - facts.started_ns) / Second_ns);
  m.add("devices", "gauge", "Devices that are served.", facts.devices.size());
  m.add("sessions", "gauge", "Sessions now.", pool.serving());
  m.add("sessions_max", "gauge", "Sessions that may be at a time.", facts.most_sessions);
  m.add("draining", "gauge", "1: no new sessions are taken.", moment.draining);
  m.add("sessions_total", "counter", "Sessions since the start.", totals.sessions);
  m.add("refused_total", "counter", "Callers that could not prove who they are.", totals.refused);
  m.add("turned_away_total", "counter", "Callers that did not say hello.", moment.turned_away);
  m.add("workers_died_total", "counter", "Workers that ended on their own: crashes of drivers, mostly.", totals.died);
  add_totals(m, totals.counters);
  m.add("log_lines_lost_total", "counter", "Lines of the log that could not be written.", moment.lost_lines);
  for (const exec::CounterRow& row : exec::CounterRows)
    if (row.shown == exec::Shown::Now) add_of_sessions(m, pool, row);
  m.head("session_device", "gauge", "1: the session has had a queue on the device.");
  for (const auto& [pid, worker] : pool.workers()) {
    if (worker->state() != WorkerProcess::State::Serving) continue;
    for (const Json& device : devices_of(*worker)) m.of_device("session_device", worker->session_number(), device);
  }
  return m.take();
}

Result<std::string> status_table(std::string_view json) try {
  const Json all = Json::parse(json);
  std::string text = fmt::format("gproxy {}, process {}, up {} s{}\n", all.at("version").get<std::string>(),
                                 all.at("pid").get<int>(), all.at("uptime_s").get<uint64_t>(),
                                 all.at("draining").get<bool>() ? ", draining" : "");
  for (const Json& url : all.at("urls")) text += fmt::format("  at {}\n", url.get<std::string>());
  for (const Json& d : all.at("devices")) {
    text += fmt::format("  device {} {} {}\n", d.at("number").get<unsigned>(), d.at("type").get<std::string>(),
                        d.at("name").get<std::string>());
  }
  const Json& sessions = all.at("sessions");
  text += fmt::format("{} sessions now (at most {}), {} since the start, {} callers refused, {} workers died\n",
                      sessions.size(), all.at("max_clients").get<uint64_t>(), all.at("sessions_total").get<uint64_t>(),
                      all.at("refused_total").get<uint64_t>(), all.at("died_total").get<uint64_t>());
  text += kept_line(all);
  text += packed_line(all);
  if (sessions.empty()) return text;
  text += fmt::format("{:>7}  {:<28} {:>7} {:>8} {:>10} {:>8} {:>11} {:>11} {:>9} {:>11} {:>11}\n", "session", "peer",
                      "devices", "age", "launches", "builds", "in", "out", "objects", "memory", "in flight");
  for (const Json& s : sessions) text += session_row(s);
  return text;
} catch (const nlohmann::json::exception& e) {
  return Status(Kind::Corrupt, fmt::format("what the proxy said cannot be read: {}", e.what()));
}

std::string status_socket(const std::string& rendezvous) { return rendezvous + ".status"; }

}  // namespace gt::proxy
