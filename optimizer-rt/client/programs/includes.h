// What a program's build needs of this machine's file system.
//
// Found as a compiler would: beside the including file, then in the folders of -I. Conditions are not evaluated, so a
// few files may be too many.
// Thread safety: functions of their arguments and the file system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "transport/protocol/messages.h"

namespace gt::virt {

// The files that `source` includes, directly or not; each with the path by which an -I of its root finds it.
std::vector<wire::IncludeFile> collect_includes(const std::string& source, const std::string& options);
// The same text, but what it includes from the root of this machine's file system (`#include "/usr/share/a.h"`) by a
// name under which an -I finds it: compilers look for such names in their own file system only.
std::string portable_source(const std::string& source);
std::string portable_name(const std::filesystem::path& included);
// Without the -I of this machine.
std::string portable_options(const std::string& options);

}  // namespace gt::virt
