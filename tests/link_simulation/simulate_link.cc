// Replays a trace and simulates it, over one link and locally; prints both, in ns, as JSON.
//   simulate_link TRACE LATENCY_US GBIT
#include <cstdio>
#include <cstdlib>

#include "analyzer/remote/link_replay.h"
#include "analyzer/remote/remote_links.h"
#include "tests/link_simulation/link_simulation.h"
#include "traces/store/trace_db.h"

namespace {

using namespace gt;
constexpr double WakeNs = 5000;

double simulate(const model::Trace& trace, const std::vector<analyzer::TimedCall>& plans,
                const model::LinkCosts* link) {
  double end = 0;
  for (const model::Stream& s : trace.streams) {
    if (s.memory) continue;
    const double at = testing::LinkSimulation(trace, plans, link, WakeNs).run(s);
    end = at > end ? at : end;
  }
  return end;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("usage: simulate_link TRACE LATENCY_US GBIT\n", stderr), 2;
  const auto trace = store::read_trace(argv[1]);
  if (!trace.ok()) return std::fprintf(stderr, "%s\n", trace.status().text().c_str()), 3;
  const model::LinkCosts link =
      analyzer::make_link("link", std::strtod(argv[2], nullptr), std::strtod(argv[3], nullptr));
  analyzer::TimingDoubts doubts;
  const auto plans = analyzer::time_calls(*trace, {}, doubts);
  const auto remote = analyzer::replay_on_link(*trace, plans, &link, WakeNs),
             local = analyzer::replay_on_link(*trace, plans, nullptr, WakeNs);
  std::printf(
      "{\"replayed\": %.0f, \"simulated\": %.0f, \"replayed_local\": %.0f, \"simulated_local\": %.0f, "
      "\"executed\": %llu}\n",
      remote.ns, simulate(*trace, plans, &link), local.ns, simulate(*trace, plans, nullptr),
      static_cast<unsigned long long>(remote.executed));
  return 0;
}
