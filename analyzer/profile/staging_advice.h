// What can be done for transfers of memory that no allocation made (stack, static data, mapped files, unknown): no
// policy can place it, but large transfers gain when they go through pinned chunks.
// Thread safety: pure.
#pragma once

#include <vector>

#include "analyzer/transfers/transfer_sources.h"
#include "traces/model/platform/platform.h"
#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// Below the size of one pinned chunk the copy into it and the transfer out of it do not overlap.
constexpr uint64_t StagingChunk = 4 << 20;

// Can the optimizer find this place again?
bool can_be_named(const CallSite& site);

// One for each kind of memory and module among the sources, most time first. `device` may be null: not measured.
std::vector<model::ProfileStaging> staging_advice(const std::vector<TransferSource>& sources,
                                                  const model::DeviceCosts* device);

}  // namespace gt::analyzer
