// Which sources to stage, and from which size.
#include "analyzer/profile/staging_advice.h"

#include <algorithm>
#include <limits>

#include "traces/model/profile/policy_costs.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

constexpr uint64_t LargestAsked = uint64_t{1} << 32;

std::string file_name(const TransferSource& s) { return s.path.substr(s.path.rfind('/') + 1); }

// "" for memory that needs no staging: the driver's own, or what a policy places.
const char* kind_word(const TransferSource& s) {
  switch (s.kind) {
    case ObjectKind::Stack:
      return "stack";
    case ObjectKind::Static:
      return "static";
    case ObjectKind::File:
      return file_name(s).empty() ? "unknown" : "file";
    case ObjectKind::String:
    case ObjectKind::Unknown:
      return "unknown";
    case ObjectKind::Segment:
      return can_be_named(s.site) ? "" : "unknown";
    default:
      return "";
  }
}

void add(model::ProfileStaging& sum, const TransferSums& t) {
  sum.smallest_bytes = sum.transfers == 0 ? t.sizes.min : std::min(sum.smallest_bytes, t.sizes.min);
  sum.largest_bytes = std::max(sum.largest_bytes, t.sizes.max);
  sum.transfers += t.transfers;
  sum.h2d_bytes += t.h2d_bytes;
  sum.d2h_bytes += t.d2h_bytes;
  sum.transfer_ns += t.time_ns;
}

// From which size on a staged transfer can win: it cannot be faster than one of pinned memory. UINT64_MAX: never.
uint64_t least_size(const model::DeviceCosts* device, bool mostly_to_device) {
  const model::PolicyCosts* standard = device ? device->costs(model::Policy::Standard) : nullptr;
  const model::PolicyCosts* pinned = device ? device->costs(model::Policy::Pin) : nullptr;
  if (!standard || !pinned) return StagingChunk;
  const model::Curve& from = mostly_to_device ? standard->h2d : standard->d2h;
  const model::Curve& to = mostly_to_device ? pinned->h2d : pinned->d2h;
  if (from.empty() || to.empty()) return StagingChunk;
  for (uint64_t size = StagingChunk; size <= LargestAsked; size *= 2) {
    const double bytes = static_cast<double>(size);
    if (model::gains(*device, model::Policy::Pin, to(bytes), from(bytes))) return size;
  }
  return std::numeric_limits<uint64_t>::max();
}

}  // namespace

bool can_be_named(const CallSite& site) {
  return site.offset != 0 && site.module_name().find_first_not_of('?') != std::string::npos;
}

std::vector<model::ProfileStaging> staging_advice(const std::vector<TransferSource>& sources,
                                                  const model::DeviceCosts* device) {
  std::vector<model::ProfileStaging> out;
  for (const TransferSource& s : sources) {
    const std::string kind = kind_word(s);
    if (kind.empty() || s.sums.transfers == 0) continue;
    const bool named = kind == "static" || kind == "file";
    const std::string module = named ? file_name(s) : std::string();
    const auto same = [&](const auto& o) { return o.kind == kind && o.module == module; };
    auto at = std::find_if(out.begin(), out.end(), same);
    if (at == out.end()) at = out.insert(out.end(), {kind, module});
    add(*at, s.sums);
  }
  for (model::ProfileStaging& s : out) {
    const uint64_t least = least_size(device, s.h2d_bytes >= s.d2h_bytes);
    s.stage = s.largest_bytes >= least;
    s.stage_from = least == std::numeric_limits<uint64_t>::max() ? StagingChunk : least;
  }
  return out;
}

}  // namespace gt::analyzer
