// The keys of the run's parts.
#include "analyzer/report/run_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/report/run_report.h"

namespace gt::analyzer {

using Json = nlohmann::ordered_json;

Json run_json(const RunParts& run) {
  if (!run.known()) return {};
  Json parts = Json::array();
  for (const RunPart& part : RunPartList)
    parts.push_back({{"part", part.key}, {"name", part.name}, {"ns", run.*part.ns}, {"reachable", part.reachable}});
  const double most = run.best_speedup();
  return {{"ns", run.whole_ns},
          {"whole", run.whole_run},
          {"parts", parts},
          {"reachable_ns", run.reachable_ns()},
          {"best_speedup", std::isfinite(most) ? Json(most) : Json()},
          {"explanation", bound_text(run)},
          {"page_ns", run.page_ns},
          {"faults", run.faults},
          {"fresh_bytes", run.fresh_bytes},
          {"beside_ns", run.beside_ns}};
}

Json gain_json(const GoptimizeGain& gain) {
  return {{"saved_s", gain.saved_s},
          {"sites_s", gain.sites_s},
          {"staging_s", gain.staging_s},
          {"pages_s", gain.pages_s},
          {"basis", gain.basis}};
}

}  // namespace gt::analyzer
