// Sites that are one: of several traces, or of one place whose callers nobody can tell apart.
// Thread safety: pure.
#pragma once

#include "traces/model/profile/profile.h"

namespace gt::model {

// The same code, whatever is around it. With a build-id the file's name does not matter.
bool same_place(const ProfileSite& a, const ProfileSite& b);
// The same code, reached the same way.
bool same_chain(const ProfileSite& a, const ProfileSite& b);

// `into` becomes what both say: ranges united, sums added, means weighted by allocations. A policy that somebody chose
// comes before auto; two that contradict each other leave the choice to the cost model.
void unite(ProfileSite& into, const ProfileSite& from);

// For those who see the innermost place only: sites of one place that are told apart by their callers become one.
// Sites of one place without callers, which differ in their sizes, stay as they are.
void merge_chains(Profile& profile);

}  // namespace gt::model
