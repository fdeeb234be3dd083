// The profile's text: what is written is read back the same; what is wrong is refused at its line and column.
#include "traces/model/profile/profile.h"

#include <doctest/doctest.h>

#include <cstdio>
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

std::string random_build_id(std::mt19937& rng) { return rng() % 3 ? "0123456789abcdef" : ""; }

std::vector<model::SizeCount> random_sizes(std::mt19937& rng) {
  std::vector<model::SizeCount> sizes;
  if (rng() % 4 == 0) sizes.push_back({0, 1 + random_number(rng) / 2});
  for (uint64_t bit = rng() % 30; bit < 64 && sizes.size() < 5; bit += 1 + rng() % 20) {
    sizes.push_back({uint64_t{1} << bit, 1 + random_number(rng) / 2});
  }
  return sizes;
}

ProfileSite random_site(std::mt19937& rng, uint64_t offset, uint64_t traces) {
  constexpr const char* Policies[] = {"auto", "standard", "opencl", "locked", "hybrid", "pin", "staged"};
  ProfileSite s;
  s.build_id = random_build_id(rng);
  s.module = "m" + random_text(rng, "/");
  s.offset = offset;
  for (uint64_t n = rng() % 3; n > 0; --n) {
    s.around.push_back({random_build_id(rng), "a" + random_text(rng, "/"), 1 + random_number(rng) / 2});
  }
  s.where = random_text(rng);
  s.call = random_text(rng);
  s.min_bytes = random_number(rng);
  s.max_bytes = s.min_bytes + random_number(rng) / 2;
  if (s.max_bytes < s.min_bytes) s.max_bytes = std::numeric_limits<uint64_t>::max();
  s.typical_bytes = random_number(rng);
  s.sizes = random_sizes(rng);
  s.allocations = random_number(rng);
  s.seen_in = rng() % (traces + 1);
  s.transfers_each = random_real(rng);
  s.h2d_bytes = random_number(rng);
  s.d2h_bytes = random_number(rng);
  s.transfer_ns = random_number(rng);
  s.policy = Policies[rng() % 7];
  if (rng() % 2) s.predicted_policy = Policies[rng() % 7];
  s.predicted_s = random_real(rng);
  s.standard_s = random_real(rng);
  return s;
}

model::ProfileStaging random_staging(std::mt19937& rng, const char* kind) {
  model::ProfileStaging s;
  s.kind = kind;
  s.module = "m" + random_text(rng, "/");
  s.transfers = random_number(rng);
  s.h2d_bytes = random_number(rng);
  s.d2h_bytes = random_number(rng);
  s.transfer_ns = random_number(rng);
  s.smallest_bytes = random_number(rng) / 2;
  s.largest_bytes = s.smallest_bytes + random_number(rng) / 2;
  s.stage = rng() % 2;
  s.stage_from = random_number(rng);
  return s;
}

model::ProfileRoute random_route(std::mt19937& rng, uint64_t offset) {
  model::ProfileRoute r;
  if (offset > 0) r.queue = {random_build_id(rng), "q", offset};
  r.where = random_text(rng);
  for (uint64_t n = rng() % 3; n > 0; --n) r.reasons.push_back(random_text(rng));
  r.remote = r.reasons.empty() && rng() % 2;
  return r;
}

Profile random_profile(std::mt19937& rng) {
  Profile p;
  p.program = random_text(rng);
  p.build_id = rng() % 2 ? "ffeeddccbbaa" : "";
  p.trace_digest = random_text(rng);
  p.traces = rng() % 4;
  p.dispatch_ratio = rng() % 10 ? random_real(rng) : std::numeric_limits<double>::infinity();
  p.eligible = rng() % 2;
  if (rng() % 2) p.platform = {random_build_id(rng), random_text(rng), random_text(rng), random_text(rng)};
  for (uint64_t i = rng() % 3; i > 0; --i) p.routes.push_back(random_route(rng, i - 1));
  for (uint64_t i = rng() % 4; i > 0; --i) p.sites.push_back(random_site(rng, i, p.traces));
  for (const char* kind : {"stack", "static", "file", "unknown"})
    if (rng() % 3 == 0) p.staging.push_back(random_staging(rng, kind));
  return p;
}

void check_equal(const ProfileSite& a, const ProfileSite& b) {
  CHECK(a.build_id == b.build_id);
  CHECK(a.module == b.module);
  CHECK(a.offset == b.offset);
  CHECK(a.around == b.around);
  CHECK(a.where == b.where);
  CHECK(a.call == b.call);
  CHECK(a.min_bytes == b.min_bytes);
  CHECK(a.max_bytes == b.max_bytes);
  CHECK(a.typical_bytes == b.typical_bytes);
  CHECK(a.sizes == b.sizes);
  CHECK(a.allocations == b.allocations);
  CHECK(a.seen_in == b.seen_in);
  CHECK(a.transfers_each == b.transfers_each);
  CHECK(a.h2d_bytes == b.h2d_bytes);
  CHECK(a.d2h_bytes == b.d2h_bytes);
  CHECK(a.transfer_ns == b.transfer_ns);
  CHECK(a.policy == b.policy);
  CHECK(a.predicted_policy == b.predicted_policy);
  CHECK(a.predicted_s == b.predicted_s);
  CHECK(a.standard_s == b.standard_s);
}

void check_equal(const model::ProfileStaging& a, const model::ProfileStaging& b) {
  CHECK(a.kind == b.kind);
  CHECK(a.module == b.module);
  CHECK(a.transfers == b.transfers);
  CHECK(a.h2d_bytes == b.h2d_bytes);
  CHECK(a.d2h_bytes == b.d2h_bytes);
  CHECK(a.transfer_ns == b.transfer_ns);
  CHECK(a.smallest_bytes == b.smallest_bytes);
  CHECK(a.largest_bytes == b.largest_bytes);
  CHECK(a.stage == b.stage);
  CHECK(a.stage_from == b.stage_from);
}

void check_equal(const model::ProfileRoute& a, const model::ProfileRoute& b) {
  CHECK(a.queue == b.queue);
  CHECK(a.where == b.where);
  CHECK(a.remote == b.remote);
  CHECK(a.reasons == b.reasons);
}

template <class T>
void check_equal(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) check_equal(a[i], b[i]);
}

std::string error_of(const std::string& text) {
  const auto result = model::parse_profile(text, "p");
  REQUIRE_FALSE(result.ok());
  return result.status().text();
}

const std::string Head = "version = 2\n[program]\npath = \"/bin/app\"\n";
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
    CHECK(q->traces == p.traces);
    REQUIRE(q->platform.has_value() == p.platform.has_value());
    if (p.platform) {
      CHECK(q->platform->fingerprint == p.platform->fingerprint);
      CHECK(q->platform->cpu == p.platform->cpu);
      CHECK(q->platform->device == p.platform->device);
      CHECK(q->platform->driver == p.platform->driver);
    }
    check_equal(q->routes, p.routes);
    check_equal(q->sites, p.sites);
    check_equal(q->staging, p.staging);
    CHECK(model::format_profile(*q) == model::format_profile(p));
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
  CHECK(error_of("[program]\n").starts_with("p:1:1: `version = 2` must come before"));
  CHECK(error_of("colour = 3\n").starts_with("p:1:1: `version = 2` must come first"));
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
  CHECK(error_of(Site + "call = \"\\\n").starts_with("p:7:8: the text has no closing"));
}

TEST_CASE("values of several parts are wrong at the part that is wrong") {
  CHECK(error_of(Site + "sizes = 4096:3 5000:1\n").starts_with("p:7:16: a size class begins"));
  CHECK(error_of(Site + "sizes = 4096:3 1024:1\n").starts_with("p:7:16: sizes must ascend"));
  CHECK(error_of(Site + "sizes = 4096:0\n").starts_with("p:7:9: a size that nobody"));
  CHECK(error_of(Site + "sizes = 4096\n").starts_with("p:7:9: sizes are wanted"));
  CHECK(error_of(Site + "around = \"ab\" \"m\"\n").starts_with("p:7:18: an offset is wanted"));
  CHECK(error_of(Site + "around = \"\" \"\" 0x1\n").starts_with("p:7:13: a place needs"));
  CHECK(error_of(Site + "around = \"ab\" \"m/n\" 0x1\n").starts_with("p:7:15: a module is a file name"));
  CHECK(error_of(Site + "around = \"ab\" \"m\" 0x0\n").starts_with("p:7:19: a place needs an offset"));
  CHECK(error_of(Site + "around = \"ab\" \"m\" 0x1 2\n").starts_with("p:7:23: nothing but"));
}

TEST_CASE("values that contradict each other are refused at their section") {
  CHECK(error_of(Site + "seen_in = 2\n").starts_with("p:4:1: seen_in"));
  CHECK(error_of(Head + "[route]\nremote = true\nreason = \"x\"\n").starts_with("p:4:1: `remote = true`"));
  CHECK(error_of(Head + "[route]\nremote = true\n[route]\nremote = false\n").starts_with("p:6:1: the section of"));
  CHECK(error_of(Head + "[staging]\nkind = heap\n").starts_with("p:5:8: the kinds of memory"));
  CHECK(error_of(Head + "[staging]\nkind = file\n").starts_with("p:4:1: a mapped file"));
  CHECK(error_of(Head + "[staging]\nsmallest_bytes = 1\n").starts_with("p:4:1: smallest_bytes"));
  CHECK(error_of(Head + "[staging]\nkind=stack\n[staging]\nkind=stack\n").starts_with("p:6:1: the section of line 4"));
  CHECK(error_of(Head + "[platform]\n[platform]\n").starts_with("p:5:1: a second [platform]"));
}

TEST_CASE("two sites of one place must differ in their sizes") {
  const std::string small = Site + "max_bytes = 9\n[site]\nmodule = \"app\"\noffset = 0x10\n";
  CHECK(model::parse_profile(small + "min_bytes = 10\n", "p").ok());
  CHECK(error_of(small + "min_bytes = 9\n").starts_with("p:8:1: the section of line 4 has the same place"));
}

TEST_CASE("callers tell sites of one place apart") {
  const std::string around = "around = \"ab\" \"m\" 0x1\n";
  const std::string two = Site + around + "[site]\nmodule = \"app\"\noffset = 0x10\n";
  CHECK(model::parse_profile(two, "p").ok());
  CHECK(model::parse_profile(two + around + around, "p").ok());
  CHECK(error_of(two + around).starts_with("p:8:1: the section of line 4"));
}

TEST_CASE("files of version 1 keep their meaning, and have no keys of version 2") {
  const std::string head = "version = 1\n[program]\npath = \"/bin/app\"\n";
  const std::string site = head + "[site]\nmodule = \"app\"\noffset = 0x10\n";
  const auto p = model::parse_profile(site + "max_bytes = 9\ntransfers_each = 2.5\npolicy = pin\n", "p");
  REQUIRE_MESSAGE(p.ok(), p.status().text());
  CHECK(p->version == 1);
  CHECK(p->traces == 1);
  REQUIRE(p->sites.size() == 1);
  CHECK(p->sites[0].around.empty());
  CHECK(p->sites[0].max_bytes == 9);
  CHECK(p->sites[0].policy == "pin");
  const auto q = model::parse_profile(model::format_profile(*p), "p");
  REQUIRE_MESSAGE(q.ok(), q.status().text());
  CHECK(q->version == model::ProfileVersion);
  check_equal(q->sites, p->sites);
  CHECK(error_of(site + "seen_in = 1\n") == "p:7:1: unknown key in version 1; version 2 has it");
  CHECK(error_of(head + "traces = 1\n").starts_with("p:4:1: unknown key in version 1"));
  CHECK(error_of(head + "[staging]\n").starts_with("p:4:1: unknown section; those of version 1"));
}

TEST_CASE("a later version is refused as such") {
  const auto later = model::parse_profile("version = 3\n[program]\nnew_key = 1\n", "p");
  REQUIRE_FALSE(later.ok());
  CHECK(later.status().kind() == Kind::Unsupported);
}

TEST_CASE("every damaged byte gives a profile, or a place") {
  std::mt19937 rng(13);
  for (int round = 0; round < 3; ++round) {
    const std::string good = model::format_profile(random_profile(rng));
    for (size_t at = 0; at < good.size(); ++at) {
      const char flipped = static_cast<char>(good[at] ^ (1 << (rng() % 8)));
      const char bytes[] = {flipped, '\0', '"', '\n', '[', static_cast<char>(0xff)};
      for (const char byte : bytes) {
        std::string bad = good;
        bad[at] = byte;
        const auto p = model::parse_profile(bad, "p");
        if (p.ok()) continue;
        const std::string text = p.status().text();
        size_t line = 0, column = 0;
        REQUIRE_MESSAGE(std::sscanf(text.c_str(), "p:%zu:%zu: ", &line, &column) == 2, text);
        CHECK(line >= 1);
        CHECK(column >= 1);
      }
    }
  }
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
