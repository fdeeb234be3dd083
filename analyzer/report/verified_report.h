// What was tried of the findings, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analyzer/base/text.h"
#include "analyzer/transfers/verified.h"

namespace gt::analyzer {

void add_verified(Text& out, const std::vector<Verified>& verified);
nlohmann::ordered_json verified_json(const std::vector<Verified>& verified);

}  // namespace gt::analyzer
