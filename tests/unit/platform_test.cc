// platform.json: a file comes back as it was; damaged and foreign ones are refused with their
// place.
#include "traces/model/platform.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

using namespace gt;
using namespace gt::model;

namespace {

Platform sample() {
  Platform p;
  p.machine = this_machine();
  p.quick = true;
  DeviceCosts d;
  d.platform = "Portable \"quoted\"";
  d.name = "cpu";
  d.driver = "3.1";
  PolicyCosts c;
  c.allocation = Curve::make({{64, 10}, {1 << 20, 5000.5}}).value();
  c.h2d = c.d2h = c.allocation;
  c.max_bytes = 1 << 22;
  c.noise = 0.01;
  d.policies[0] = c;
  d.policies[4] = c;
  p.devices.push_back(d);
  return p;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what is written is read back") {
  const Platform p = sample();
  const auto back = parse_platform(format_platform(p), "x");
  REQUIRE(back.ok());
  CHECK(back->machine == p.machine);
  CHECK(back->quick);
  REQUIRE(back->devices.size() == 1);
  CHECK(back->devices[0].platform == p.devices[0].platform);
  CHECK(back->devices[0].costs(Policy::Standard)->allocation.knots() ==
        p.devices[0].costs(Policy::Standard)->allocation.knots());
  CHECK(back->devices[0].costs(Policy::Pin)->max_bytes == 1 << 22);
  CHECK(back->devices[0].costs(Policy::OpenCl) == nullptr);
}

TEST_CASE("links may be missing, and are as strict as the rest") {
  Platform p = sample();
  const std::string without = format_platform(p);
  CHECK(without.find("links") == std::string::npos);
  REQUIRE(parse_platform(without, "x").ok());
  const Curve put = Curve::make({{64, 10}, {1 << 20, 1e6}}).value();
  p.links.push_back({"tcp://node7:7077", 25'000.5, 900, put, Curve::make({{64, 8}}).value()});
  const std::string text = format_platform(p);
  const auto back = parse_platform(text, "x");
  REQUIRE(back.ok());
  REQUIRE(back->links.size() == 1);
  CHECK(back->links[0].name == "tcp://node7:7077");
  CHECK(back->links[0].latency_ns == 25'000.5);
  CHECK(back->links[0].command_ns == 900);
  CHECK(back->links[0].put.knots() == put.knots());
  CHECK(back->links[0].get.knots().front().ns == 8);
  const auto problem = [&](const char* from, const char* to) {
    const auto r = parse_platform(replaced(text, from, to), "p");
    REQUIRE_FALSE(r.ok());
    return r.status().text();
  };
  CHECK(problem("25000.5", "-1") == "p: links[0].latency_ns: out of range");
  CHECK(problem("\"command_ns\"", "\"comand_ns\"").find("links[0]") != std::string::npos);
  CHECK(problem("1000000.0", "1.0").find("links[0].put: a curve's") != std::string::npos);
  CHECK(problem("\"tcp://node7:7077\"", "\"\"") == "p: links[0].name: is empty");
  CHECK(problem("\"links\"", "\"lines\"").find("unknown key \"lines\"") != std::string::npos);
}

TEST_CASE("a number that no machine can hold is an error") {
  const auto platform = model::parse_platform("2e2282", "p");
  REQUIRE(!platform.ok());
  CHECK(platform.status().kind() == Kind::Corrupt);
}

TEST_CASE("errors name their place") {
  const std::string good = format_platform(sample());
  const auto problem = [](const std::string& text) {
    const auto r = parse_platform(text, "p.json");
    REQUIRE_FALSE(r.ok());
    CHECK(r.status().kind() == Kind::Corrupt);
    return r.status().text();
  };
  CHECK(problem("").find("p.json: not JSON") == 0);
  CHECK(problem("{}").find("not a gtrace platform file") != std::string::npos);
  CHECK(problem("[1,2]").find("not a gtrace") != std::string::npos);
  CHECK(problem(replaced(good, "\"version\": 1", "\"version\": 9")).find("version") !=
        std::string::npos);
  CHECK(problem(replaced(good, "\"quick\": true", "\"quick\": 1")).find("quick") !=
        std::string::npos);
  CHECK(problem(replaced(good, "\"noise\"", "\"noize\"")).find("noi") != std::string::npos);
  CHECK(problem(replaced(good, "\"standard\"", "\"magic\"")).find("magic") != std::string::npos);
  CHECK(problem(replaced(good, "5000.5", "1e-3")).find("devices[0].policies.standard.allocation") !=
        std::string::npos);
  CHECK(problem(replaced(good, "5000.5", "\"many\"")).find("[size, ns]") != std::string::npos);
}

TEST_CASE("no truncation is accepted or crashes") {
  const std::string good = format_platform(sample());
  for (size_t n = 0; n + 2 < good.size(); ++n)
    CHECK_FALSE(parse_platform(good.substr(0, n), "t").ok());
}

TEST_CASE("damaged bytes never crash") {
  const std::string good = format_platform(sample());
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    const auto r = parse_platform(bad, "d");
    if (r.ok()) CHECK(r->devices.size() <= 1);
  }
}

TEST_CASE("a file of another machine or driver is refused") {
  const Machine here = this_machine();
  Platform p = sample();
  CHECK(matches_here(p, here).ok());
  p.machine.drivers += "x";
  CHECK(matches_here(p, here).kind() == Kind::Unsupported);
  p = sample();
  p.machine.memory_bytes *= 2;
  CHECK_FALSE(matches_here(p, here).ok());
  p = sample();
  p.machine.cpu = "abacus";
  CHECK_FALSE(matches_here(p, here).ok());
}

TEST_CASE("writing makes the folder, replaces the file, and says why it cannot") {
  char folder[] = "/tmp/platform_test.XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string path = std::string(folder) + "/a/b/platform.json";
  REQUIRE(write_platform(sample(), path).ok());
  REQUIRE(write_platform(sample(), path).ok());
  CHECK(read_platform(path).ok());
  CHECK(read_platform(path + ".none").status().kind() == Kind::System);
  CHECK_FALSE(write_platform(sample(), path + "/below/a/file.json").ok());
  CHECK(std::system(("rm -r " + std::string(folder)).c_str()) == 0);
}
