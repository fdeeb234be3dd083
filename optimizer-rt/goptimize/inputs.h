// What goptimize works from: the program's profile and this machine's platform file, found or made.
// Thread safety: none.
#pragma once

#include <optional>
#include <string>

#include "traces/model/platform/platform.h"
#include "traces/model/profile/profile.h"

namespace gt::opt {

struct FoundProfile {
  std::string path;
  model::Profile profile;
};
// `given`, if not empty, must be good: else its error. Otherwise APP.gprofile here, then the kept
// copy of the program with this build-id; a damaged one is passed over with a warning. Nothing when
// there is none.
Result<std::optional<FoundProfile>> find_profile(const std::string& given, const std::string& app,
                                                 const std::string& binary);

// By the build-ids of both; false where one has none.
bool made_for_another(const model::Profile& profile, const std::string& binary);

struct FoundPlatform {
  model::Platform platform;
  std::string path;   // of its file, which may not be there yet
  bool asks = false;  // the program may open devices without costs that are to be measured then
};
// `given`, if not empty, must be good and of this machine. Otherwise the cached one, or nothing yet if devices may be
// measured. An error, with the reason: no device has costs, and none may get any.
Result<FoundPlatform> find_platform(const std::string& given, bool measures);
// The cached one, or an empty platform: nothing is measured.
FoundPlatform cached_platform();
// Takes over what the file says now. The devices that are there keep their places and costs, others come behind them:
// their number.
size_t add_devices(model::Platform& platform, const std::string& path);

// Forgets what staging would gain on devices whose memory is the host's: a transfer there is one copy by the program's
// own processors, and staging makes it two. What short measurements find there is idle cores.
void leave_shared_memory_alone(model::Platform& platform);

}  // namespace gt::opt
