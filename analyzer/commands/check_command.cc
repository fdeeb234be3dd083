// ganalyze --check PROFILE: valid or not, what it says, what looks odd.
#include <cstdio>

#include "analyzer/commands/commands.h"
#include "analyzer/profile/profile_check.h"
#include "analyzer/profile/profile_files.h"

namespace gt::analyzer {

int check_command(const std::string& path) {
  const auto profile = read_profile(path);
  if (!profile.ok()) return fail(ProgramName, profile.status());
  for (const auto& list : {odd_values(*profile), strange_here(*profile)}) {
    for (const std::string& what : list) std::fprintf(stderr, "%s: warning: %s\n", path.c_str(), what.c_str());
  }
  return print_text(path + ": " + summarize_profile(*profile));
}

}  // namespace gt::analyzer
