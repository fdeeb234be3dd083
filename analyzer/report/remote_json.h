// The report's `remote` object.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyzer/remote/remote_eligibility.h"
#include "analyzer/remote/remote_prediction.h"

namespace gt::analyzer {

nlohmann::ordered_json remote_json(const RemoteEligibility& remote, const RemotePrediction& prediction);

}  // namespace gt::analyzer
