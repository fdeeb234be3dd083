// Values to JSON; `eligible` and `reasons` are what others build on.
#include "analyzer/report/remote_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json site_json(const CallSite& s) {
  const Frame own = s.frames.empty() ? Frame() : s.frames[0];
  return {
      {"module", s.module}, {"offset", s.offset}, {"function", own.function}, {"file", own.file}, {"line", own.line}};
}

// Queues are numbered by their place in `queues`; null: all of them.
Json queue_number(const RemoteEligibility& remote, model::ClassId queue) {
  const auto at =
      std::find_if(remote.queues.begin(), remote.queues.end(), [&](const RemoteQueue& q) { return q.queue == queue; });
  return at == remote.queues.end() ? Json() : Json(at - remote.queues.begin());
}

Json features_json(const RemoteEligibility& remote) {
  Json out = Json::array();
  for (const RemoteFeature& f : remote.features) {
    out.push_back({{"feature", f.name},
                   {"blocks", f.blocks},
                   {"reason", f.reason},
                   {"call", f.function},
                   {"site", site_json(f.site)},
                   {"calls", f.calls},
                   {"queue", queue_number(remote, f.queue)}});
  }
  return out;
}

Json queues_json(const RemoteEligibility& remote) {
  Json out = Json::array();
  for (const RemoteQueue& q : remote.queues)
    out.push_back({{"site", site_json(q.site)}, {"eligible", q.eligible}, {"commands", q.commands}});
  return out;
}

Json terms_json(const Terms& terms) {
  Json out = Json::object();
  for (size_t i = 0; i < TermCount; ++i) out[std::string(term_name(static_cast<Term>(i))) + "_s"] = terms[i];
  return out;
}

Json link_json(const RemoteEligibility& remote, const LinkPrediction& p) {
  Json queues = Json::array();
  for (const QueueOnLink& q : p.queues) {
    queues.push_back({{"queue", queue_number(remote, q.queue)},
                      {"commands", q.commands},
                      {"waits", q.waits},
                      {"device_s", q.device_s},
                      {"transfer_s", q.transfer_s},
                      {"reply_s", q.reply_s},
                      {"dominates", term_name(q.dominates())}});
  }
  return {{"name", p.link.costs.name},      {"assumed", p.link.assumed},    {"latency_ns", p.link.costs.latency_ns},
          {"seconds", p.seconds},           {"slowdown", p.slowdown},       {"dominates", term_name(p.dominates)},
          {"parts", terms_json(p.parts_s)}, {"replies", p.replies},         {"put_bytes", p.put_bytes},
          {"get_bytes", p.get_bytes},       {"approximate", p.approximate}, {"queues", queues}};
}

}  // namespace

Json remote_json(const RemoteEligibility& remote, const RemotePrediction& prediction) {
  Json links = Json::array();
  for (const LinkPrediction& p : prediction.links) links.push_back(link_json(remote, p));
  return {{"eligible", remote.eligible},
          {"reasons", remote.reasons},
          {"features", features_json(remote)},
          {"queues", queues_json(remote)},
          {"measured_s", prediction.measured_s},
          {"replayed_s", prediction.replayed_s},
          {"links", links},
          {"doubts", prediction.doubts}};
}

}  // namespace gt::analyzer
