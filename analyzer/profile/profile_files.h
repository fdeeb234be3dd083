// Where profiles lie: beside the trace, and a copy by the program's build-id.
#pragma once

#include <string>

#include "traces/base/status.h"
#include "traces/model/profile/profile.h"

namespace gt::analyzer {

// "dir/trace.db" and "/bin/app" -> "dir/app.gprofile".
std::string profile_path(const std::string& trace, const std::string& program_name);
// $XDG_DATA_HOME/gtrace/profiles/BUILDID.gprofile (or under ~/.local/share); empty without build-id
// or home.
std::string profile_copy_path(const std::string& build_id);

// Whole or not at all: written beside `path` and renamed, unless that is a device or a pipe. `make_folders`: creates
// what is missing on the way.
Status write_profile(const model::Profile& profile, const std::string& path, bool make_folders);
// The copy by build-id, for goptimize run in other folders; a warning on stderr when it cannot be written.
void keep_copy(const model::Profile& profile);
// Corrupt: no valid profile. System: cannot be opened.
Result<model::Profile> read_profile(const std::string& path);

}  // namespace gt::analyzer
