// Uniting sites: of several traces, and of one place with several callers.
#include "traces/model/profile/profile_sites.h"

#include <doctest/doctest.h>

using namespace gt;
using model::ProfileSite;

namespace {

ProfileSite site(uint64_t offset, uint64_t bytes, uint64_t allocations, double transfers_each) {
  ProfileSite s;
  s.build_id = "ab";
  s.module = "app";
  s.offset = offset;
  s.call = "malloc";
  s.min_bytes = s.max_bytes = s.typical_bytes = bytes;
  s.allocations = allocations;
  s.transfers_each = transfers_each;
  s.h2d_bytes = bytes * allocations;
  return s;
}

ProfileSite called_from(ProfileSite s, uint64_t caller) {
  s.around.push_back({"ab", "app", caller});
  return s;
}

}  // namespace

TEST_CASE("ranges unite, sums add, means are weighted by allocations") {
  ProfileSite a = site(1, 1000, 3, 2);
  a.sizes = {{512, 3}};
  ProfileSite b = site(1, 5000, 1, 10);
  b.sizes = {{512, 1}, {4096, 1}};
  b.call = "calloc";
  unite(a, b);
  CHECK(a.min_bytes == 1000);
  CHECK(a.max_bytes == 5000);
  CHECK(a.typical_bytes == 2000);
  CHECK(a.allocations == 4);
  CHECK(a.transfers_each == doctest::Approx(4));
  CHECK(a.h2d_bytes == 8000);
  CHECK(a.sizes == std::vector<model::SizeCount>{{512, 4}, {4096, 1}});
  CHECK(a.call == "malloc, calloc");
  unite(a, site(1, 2000, 1, 0));
  CHECK(a.call == "malloc, calloc");
}

TEST_CASE("a chosen policy comes before auto; two that contradict each other cancel out") {
  ProfileSite a = site(1, 1, 1, 1), b = a;
  b.policy = "standard";
  unite(a, b);
  CHECK(a.policy == "standard");
  b.policy = "pin";
  unite(a, b);
  CHECK(a.policy == "auto");
}

TEST_CASE("predictions of different policies are no prediction") {
  ProfileSite a = site(1, 1, 1, 1), b = a;
  a.predicted_policy = b.predicted_policy = "pin";
  a.predicted_s = b.predicted_s = 1;
  unite(a, b);
  CHECK(a.predicted_s == 2);
  b.predicted_policy = "standard";
  unite(a, b);
  CHECK(a.predicted_policy.empty());
  CHECK(a.predicted_s == 0);
}

TEST_CASE("one place with several callers becomes one site, in the place of the first") {
  model::Profile p;
  p.sites = {called_from(site(7, 4096, 2, 1), 1), site(8, 10, 1, 1), called_from(site(7, 64, 2, 3), 2)};
  CHECK(same_place(p.sites[0], p.sites[2]));
  CHECK_FALSE(same_chain(p.sites[0], p.sites[2]));
  model::merge_chains(p);
  REQUIRE(p.sites.size() == 2);
  CHECK(p.sites[0].offset == 7);
  CHECK(p.sites[0].around.empty());
  CHECK(p.sites[0].min_bytes == 64);
  CHECK(p.sites[0].max_bytes == 4096);
  CHECK(p.sites[0].transfers_each == doctest::Approx(2));
  CHECK(model::parse_profile(model::format_profile(p), "p").ok());
}

TEST_CASE("sites of one place that differ in their sizes stay two") {
  model::Profile p;
  p.sites = {site(7, 10, 1, 1), site(7, 20, 1, 1)};
  model::merge_chains(p);
  CHECK(p.sites.size() == 2);
}

TEST_CASE("without a build-id the module's name tells places apart") {
  ProfileSite a = site(1, 1, 1, 1), b = a;
  b.module = "lib";
  CHECK(same_place(a, b));
  a.build_id = b.build_id = "";
  CHECK_FALSE(same_place(a, b));
}
