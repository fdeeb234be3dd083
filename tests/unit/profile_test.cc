// The profile's text: what is written is read back the same; what is wrong is refused at its line
// and column.
#include "traces/model/profile.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace gt;
using model::Profile;
using model::ProfileSite;

namespace {

std::string random_text(std::mt19937& rng, const std::string& refused = "") {
  std::string s;
  for (size_t n = rng() % 12; n > 0; --n) {
    const char c = static_cast<char>(rng() % 256);
    if (refused.find(c) == std::string::npos) s += c;
  }
  return s;
}

uint64_t random_number(std::mt19937& rng) {
  const uint64_t bits = (uint64_t{rng()} << 32) | rng();
  return bits >> (rng() % 64);
}

double random_real(std::mt19937& rng) {
  if (rng() % 8 == 0) return 0;
  return static_cast<double>(random_number(rng)) / static_cast<double>(1 + rng() % 1000);
}

ProfileSite random_site(std::mt19937& rng, uint64_t offset) {
  constexpr const char* Policies[] = {"auto",   "standard", "opencl", "locked",
                                      "hybrid", "pin",      "staged"};
  ProfileSite s;
  s.build_id = rng() % 3 ? "0123456789abcdef" : "";
  s.module = "m" + random_text(rng, "/");
  s.offset = offset;
  s.where = random_text(rng);
  s.call = random_text(rng);
  s.min_bytes = random_number(rng);
  s.max_bytes = s.min_bytes + random_number(rng) / 2;
  if (s.max_bytes < s.min_bytes) s.max_bytes = std::numeric_limits<uint64_t>::max();
  s.typical_bytes = random_number(rng);
  s.allocations = random_number(rng);
  s.transfers_each = random_real(rng);
  s.h2d_bytes = random_number(rng);
  s.d2h_bytes = random_number(rng);
  s.transfer_ns = random_number(rng);
  s.policy = Policies[rng() % 7];
  return s;
}

Profile random_profile(std::mt19937& rng) {
  Profile p;
  p.program = random_text(rng);
  p.build_id = rng() % 2 ? "ffeeddccbbaa" : "";
  p.trace_digest = random_text(rng);
  p.dispatch_ratio = rng() % 10 ? random_real(rng) : std::numeric_limits<double>::infinity();
  p.eligible = rng() % 2;
  for (uint64_t i = rng() % 4; i > 0; --i) p.sites.push_back(random_site(rng, i));
  return p;
}

void check_equal(const ProfileSite& a, const ProfileSite& b) {
  CHECK(a.build_id == b.build_id);
  CHECK(a.module == b.module);
  CHECK(a.offset == b.offset);
  CHECK(a.where == b.where);
  CHECK(a.call == b.call);
  CHECK(a.min_bytes == b.min_bytes);
  CHECK(a.max_bytes == b.max_bytes);
  CHECK(a.typical_bytes == b.typical_bytes);
  CHECK(a.allocations == b.allocations);
  CHECK(a.transfers_each == b.transfers_each);
  CHECK(a.h2d_bytes == b.h2d_bytes);
  CHECK(a.d2h_bytes == b.d2h_bytes);
  CHECK(a.transfer_ns == b.transfer_ns);
  CHECK(a.policy == b.policy);
}

std::string error_of(const std::string& text) {
  const auto result = model::parse_profile(text, "p");
  REQUIRE_FALSE(result.ok());
  return result.status().text();
}

const std::string Head = "version = 1\n[program]\npath = \"/bin/app\"\n";
const std::string Site = Head + "[site]\nmodule = \"app\"\noffset = 0x10\n";

}  // namespace

TEST_CASE("a written profile is read back the same") {
  std::mt19937 rng(7);
  for (int round = 0; round < 300; ++round) {
    const Profile p = random_profile(rng);
    const auto q = model::parse_profile(model::format_profile(p), "p");
    REQUIRE_MESSAGE(q.ok(), q.status().text());
    CHECK(q->program == p.program);
    CHECK(q->build_id == p.build_id);
    CHECK(q->trace_digest == p.trace_digest);
    CHECK(q->dispatch_ratio == p.dispatch_ratio);
    CHECK(q->eligible == p.eligible);
    REQUIRE(q->sites.size() == p.sites.size());
    for (size_t i = 0; i < p.sites.size(); ++i) check_equal(q->sites[i], p.sites[i]);
  }
}

TEST_CASE("a person may write it by hand") {
  const auto p = model::parse_profile("# mine\r\n\r\n version=1 # first\r\n[ program ]\n", "p");
  CHECK_FALSE(p.ok());  // names of sections have no blanks
  const auto q = model::parse_profile(
      "  version=1   # first\r\n[program]# here\npath=\"a # \\\"b\\\" \\x41\"   # tail\n\n"
      "[site]\n\tmodule = \"m\"\n\toffset = 0xff\n\tpolicy = pin# tail",
      "p");
  REQUIRE_MESSAGE(q.ok(), q.status().text());
  CHECK(q->program == "a # \"b\" A");
  REQUIRE(q->sites.size() == 1);
  CHECK(q->sites[0].offset == 0xff);
  CHECK(q->sites[0].policy == "pin");
  CHECK(q->sites[0].min_bytes == 0);
  CHECK(q->sites[0].max_bytes == std::numeric_limits<uint64_t>::max());
}

TEST_CASE("errors name their line and column") {
  CHECK(error_of("") == "p:1:1: no `version` line: this is not a gtrace profile");
  CHECK(error_of("[program]\n").starts_with("p:1:1: `version = 1` must come before"));
  CHECK(error_of("colour = 3\n").starts_with("p:1:1: `version = 1` must come first"));
  CHECK(error_of("version = 1\n").ends_with("no [program] section"));
  CHECK(error_of("version = x\n").starts_with("p:1:11: "));
  CHECK(error_of("version = 0\n").starts_with("p:1:11: "));
  CHECK(error_of(Head + "colour = 3\n") == "p:4:1: unknown key");
  CHECK(error_of(Head + "  path = \"x\"\n").starts_with("p:4:3: this key was given already"));
  CHECK(error_of(Head + "[sites]\n").starts_with("p:4:1: unknown section"));
  CHECK(error_of(Head + "[program]\n").starts_with("p:4:1: a second [program]"));
  CHECK(error_of(Head + "eligible = yes\n").starts_with("p:4:12: "));
  CHECK(error_of(Head + "eligible = true false\n").starts_with("p:4:17: nothing but a comment"));
  CHECK(error_of(Head + "eligible =\n").starts_with("p:4:10: a value is missing"));
  CHECK(error_of(Head + "eligible\n").starts_with("p:4:1: a line is"));
  CHECK(error_of(Head + "trace_digest = \"abc\n").starts_with("p:4:16: the text has no closing"));
  CHECK(error_of(Head + "trace_digest = \"a\\n\"\n").starts_with("p:4:16: only "));
  CHECK(error_of(Head + "trace_digest = abc\n").starts_with("p:4:16: a text in double quotes"));
  CHECK(error_of(Head + "build_id = \"XY\"\n").starts_with("p:4:12: a build-id"));
  CHECK(error_of(Head + "dispatch_ratio = -1\n").starts_with("p:4:18: "));
  CHECK(error_of(Head + "dispatch_ratio = nan\n").starts_with("p:4:18: "));
  CHECK(error_of(Site + "min_bytes = 99999999999999999999\n").starts_with("p:7:13: "));
  CHECK(error_of(Site + "min_bytes = -1\n").starts_with("p:7:13: a whole number"));
  CHECK(error_of(Site + "policy = fast\n").starts_with("p:7:10: the policies are"));
  CHECK(error_of(Site + "offset = 0x20\n").starts_with("p:7:1: this key"));
  CHECK(error_of(Head + "[site]\noffset = 12\n").starts_with("p:5:10: an offset is wanted"));
  CHECK(error_of(Head + "[site]\noffset = 0x1\n").starts_with("p:4:1: a site needs a build_id"));
  CHECK(error_of(Site + "min_bytes = 2\nmax_bytes = 1\n").starts_with("p:4:1: min_bytes"));
}

TEST_CASE("two sites of one place must differ in their sizes") {
  const std::string small = Site + "max_bytes = 9\n[site]\nmodule = \"app\"\noffset = 0x10\n";
  CHECK(model::parse_profile(small + "min_bytes = 10\n", "p").ok());
  CHECK(error_of(small + "min_bytes = 9\n").starts_with("p:8:1: the site of line 4"));
}

TEST_CASE("a later version is refused as such") {
  const auto later = model::parse_profile("version = 2\n[program]\nnew_key = 1\n", "p");
  REQUIRE_FALSE(later.ok());
  CHECK(later.status().kind() == Kind::Unsupported);
}

TEST_CASE("damaged text is refused or understood, and never crashes") {
  std::mt19937 rng(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = model::format_profile(random_profile(rng));
    for (size_t n = 1 + rng() % 3; n > 0; --n) {
      const size_t at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text.resize(std::max<size_t>(at, 1));
          break;
        default:
          text.insert(at, text.substr(rng() % text.size(), rng() % 40));
      }
    }
    const auto p = model::parse_profile(text, "p");
    if (!p.ok()) {
      CHECK(p.status().text().starts_with("p:"));
      continue;
    }
    CHECK(model::parse_profile(model::format_profile(*p), "p").ok());
  }
}
