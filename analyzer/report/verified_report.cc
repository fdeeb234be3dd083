#include "analyzer/report/verified_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/base/units.h"

namespace gt::analyzer {

namespace {

std::string signed_time(double seconds) {
  return (seconds < 0 ? "-" : "") + time_text(static_cast<uint64_t>(std::abs(seconds) * 1e9));
}

}  // namespace

void add_verified(Text& out, const std::vector<Verified>& verified) {
  out.heading("Tried by replays");
  if (verified.empty()) return out.paragraph("Nothing that was found can be tried by a replay.");
  std::vector<std::vector<std::string>> rows{
      {"choice", "predicted", "saved", "from", "to", "as recorded", "otherwise"}};
  for (const Verified& v : verified) {
    const std::string predicted = v.predicted_s ? signed_time(*v.predicted_s) : "-";
    if (v.turns == 0) {
      rows.push_back({v.choice, predicted, "not tried", "", "", "", ""});
    } else {
      rows.push_back({v.choice, predicted, signed_time(v.saved_s), signed_time(v.least_s), signed_time(v.most_s),
                      signed_time(v.as_recorded_s), signed_time(v.otherwise_s)});
    }
  }
  out.table(rows, 1);
  for (const Verified& v : verified) {
    const std::string pairs = v.turns > 0 ? fmt::format("{} pairs of replays; ", v.turns) : "";
    const std::string rules = v.rules.empty() ? "" : fmt::format(" ({})", fmt::join(v.rules, ", "));
    out.faint(fmt::format("{}{}: {}{}.", v.choice, rules, pairs, printable(v.note)));
  }
}

nlohmann::ordered_json verified_json(const std::vector<Verified>& verified) {
  using Json = nlohmann::ordered_json;
  Json out = Json::array();
  for (const Verified& v : verified) {
    out.push_back({{"choice", v.choice},
                   {"rules", v.rules},
                   {"predicted_s", v.predicted_s ? Json(*v.predicted_s) : Json()},
                   {"turns", v.turns},
                   {"as_recorded_s", v.as_recorded_s},
                   {"otherwise_s", v.otherwise_s},
                   {"saved_s", v.saved_s},
                   {"least_s", v.least_s},
                   {"most_s", v.most_s},
                   {"note", v.note}});
  }
  return out;
}

}  // namespace gt::analyzer
