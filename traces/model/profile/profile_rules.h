// What a profile may not say although each of its values is possible: the rules between values.
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "traces/model/profile/profile.h"

namespace gt::model {

// Where each section began: parallel to the profile's vectors.
struct ProfileLines {
  std::vector<size_t> routes, sites, staging;
};

// A rule that is broken, and the line of the section that breaks it.
struct BrokenRule {
  size_t line = 0;
  std::string what;  // empty: all is well
};
BrokenRule check_rules(const Profile& profile, const ProfileLines& lines);

}  // namespace gt::model
