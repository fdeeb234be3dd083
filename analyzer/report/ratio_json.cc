// The keys of ratios.
#include "analyzer/report/ratio_json.h"

#include <cmath>

#include "analyzer/report/site_json.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: null.
Json number(double v, bool defined) { return defined && std::isfinite(v) ? Json(v) : Json(); }

Json ratio_json(const Ratio& r) {
  return {{"ratio", number(r.value(), r.defined())},
          {"kernel_ns", r.kernel_ns},
          {"transfer_ns", r.transfer_ns},
          {"h2d_ns", r.h2d_ns},
          {"d2h_ns", r.d2h_ns},
          {"overlap_ns", r.overlap_ns},
          {"kernels", r.kernels},
          {"transfers", r.transfers},
          {"estimated_kernels", r.estimated_kernels},
          {"estimated_transfers", r.estimated_transfers},
          {"untimed_kernels", r.untimed_kernels},
          {"untimed_transfers", r.untimed_transfers},
          {"steady",
           {{"ratio", number(r.steady_value(), r.steady_defined())},
            {"kernel_ns", r.steady_kernel_ns},
            {"transfer_ns", r.steady_transfer_ns},
            {"overlap_ns", r.steady_overlap_ns}}}};
}

Json objects_json(const std::vector<ObjectRatio>& objects) {
  Json out = Json::array();
  for (const ObjectRatio& o : objects) {
    out.push_back(ratio_json(o.ratio));
    out.back()["name"] = o.name;
    out.back()["site"] = site_json(o.site);
    out.back()["devices"] = o.devices;
  }
  return out;
}

}  // namespace

void add_ratio_json(Json& out, const DispatchRatio& d) {
  out["dispatch_ratio"] = number(d.program.value(), d.program.defined());
  out["min_ratio"] = d.min_ratio;
  out["eligible"] = d.eligible;
  out["device_share"] = d.share ? Json(*d.share) : Json();
  out["explanation"] = d.sentence;
  out["steady"] = d.steady;
  out["estimated"] = d.estimated;
  out["untimed"] = d.untimed;
  out["time"] = ratio_json(d.program);
  out["devices"] = Json::array();
  for (const DeviceRatio& device : d.devices) {
    out["devices"].push_back(ratio_json(device.ratio));
    out["devices"].back()["device"] = device.device;
  }
  out["queues"] = objects_json(d.queues);
  out["contexts"] = objects_json(d.contexts);
}

}  // namespace gt::analyzer
