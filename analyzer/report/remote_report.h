// The report's section on remote devices.
#pragma once

#include "analyzer/remote/remote_eligibility.h"
#include "analyzer/remote/remote_prediction.h"
#include "analyzer/base/text.h"

namespace gt::analyzer {

void add_remote(Text& out, const RemoteEligibility& remote, const RemotePrediction& prediction);

}  // namespace gt::analyzer
