// platform.json: a file comes back as it was; damaged and foreign ones are refused with their
// place.
#include "traces/model/platform/platform.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "traces/model/platform/accelerators.h"
#include "traces/model/platform/platform_merge.h"

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

Curve fitted() {
  Curve c = Curve::make({{64, 10}, {1 << 20, 7000}}).value();
  c.set_quality({64, 1 << 22, 120, 3, 0.04, {256, 4096}});
  return c;
}

// Everything that a file can hold.
Platform full_sample() {
  Platform p = sample();
  DeviceCosts& d = p.devices[0];
  d.type = DeviceType::Gpu;
  d.host_unified = false;
  d.policies[0]->window = BothWays{fitted(), fitted()};
  d.pin = fitted();
  d.staged = StagedCosts{fitted(), fitted(), 8, 4 << 20};
  d.svm = SvmCosts{{fitted(), fitted()}, {fitted(), fitted()}, BothWays{fitted(), fitted()}};
  d.launch = LaunchCosts{9300, 4100.5};
  d.copy = fitted();
  d.map = MapCosts{fitted(), fitted()};
  d.rect = BothWays{fitted(), fitted()};
  d.duplex = fitted();
  p.host.first_touch = fitted();
  p.host.copy_threads = {{1, 11e9}, {2, 20.5e9}};
  p.failed.push_back({"Portable", "broken", "1.0", "clFinish failed (-36)", 1'795'382'400});
  p.failed.push_back({"Portable", "slow", "1.0", "a driver did not come back within 15 s", 1'795'382'400, true});
  UnfinishedDevice begun{d, {"launch", "copy"}};
  begun.costs.name = "begun";
  begun.costs.policies = {};
  p.unfinished.push_back(begun);
  p.unused = {{"Portable", "idle", "1.0"}};
  p.unlisted = true;
  p.links.push_back({"tcp://node7:7077", 25'000.5, 900, fitted(), fitted()});
  return p;
}

std::string file_text(const char* path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  REQUIRE(text.str().size() > 100);
  return text.str();
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
  CHECK(problem(replaced(good, "\"version\": 3", "\"version\": 9")).find("version") !=
        std::string::npos);
  CHECK(problem(replaced(good, "\"quick\": true", "\"quick\": 1")).find("quick") !=
        std::string::npos);
  CHECK(problem(replaced(good, "\"noise\"", "\"noize\"")).find("noi") != std::string::npos);
  CHECK(problem(replaced(good, "\"standard\"", "\"magic\"")).find("magic") != std::string::npos);
  CHECK(problem(replaced(good, "5000.5", "1e-3")).find("devices[0].policies.standard.allocation") !=
        std::string::npos);
  CHECK(problem(replaced(good, "5000.5", "\"many\"")).find("[size, ns]") != std::string::npos);
}

TEST_CASE("all that version 3 holds comes back") {
  const Platform p = full_sample();
  const std::string text = format_platform(p);
  const auto back = parse_platform(text, "x");
  REQUIRE_MESSAGE(back.ok(), back.status().text());
  CHECK(back->version == 3);
  CHECK(format_platform(*back) == text);
  const DeviceCosts& d = back->devices.at(0);
  CHECK(d.type == DeviceType::Gpu);
  CHECK(d.host_unified == false);
  CHECK(d.pin->knots() == fitted().knots());
  CHECK(d.pin->quality() == fitted().quality());
  CHECK(d.staged->threads == 8);
  CHECK(d.staged->chunk_bytes == 4 << 20);
  CHECK(d.launch->sync_ns == 9300);
  CHECK(d.launch->async_ns == 4100.5);
  CHECK(d.map->write.quality()->noisy == std::vector<double>{256, 4096});
  CHECK(d.costs(Policy::Standard)->window->d2h.knots() == fitted().knots());
  CHECK_FALSE(d.costs(Policy::Pin)->window);
  CHECK(back->host.copy_threads == p.host.copy_threads);
  CHECK(back->failed.at(0).error == "clFinish failed (-36)");
  CHECK(back->failed.at(0).time_s == 1'795'382'400);
  CHECK_FALSE(back->failed.at(0).given_up);
  CHECK(back->failed.at(1).given_up);
  CHECK(back->unfinished.at(0).steps == std::vector<std::string>{"launch", "copy"});
  CHECK(back->unfinished.at(0).costs.launch->sync_ns == 9300);
  CHECK_FALSE(back->unfinished.at(0).costs.costs(Policy::Standard));
  CHECK(back->unused == p.unused);
  CHECK(back->unlisted);
  CHECK_FALSE(d.quick);  // although the file was written with quick = true
  CHECK(back->machine == p.machine);
}

TEST_CASE("the kept file of version 1 loads, and has nothing of version 2") {
  const auto p = read_platform(GT_PLATFORMS "/version1.json");
  REQUIRE_MESSAGE(p.ok(), p.status().text());
  CHECK(p->version == 1);
  CHECK(p->quick);
  CHECK(p->machine.cpus == 4);
  const DeviceCosts& d = p->devices.at(0);
  CHECK(d.costs(Policy::Standard)->h2d(65536) == 6000);
  CHECK(d.costs(Policy::Locked)->max_bytes == 4194304);
  CHECK_FALSE(d.costs(Policy::Pin));
  CHECK(p->links.at(0).latency_ns == 25000);
  CHECK(d.type == DeviceType::Unknown);
  CHECK_FALSE(d.host_unified);
  CHECK_FALSE(d.pin);
  CHECK_FALSE(d.staged);
  CHECK_FALSE(d.launch);
  CHECK_FALSE(d.costs(Policy::Standard)->h2d.quality());
  CHECK_FALSE(p->host.first_touch);
  const auto again = parse_platform(format_platform(*p), "again");
  REQUIRE(again.ok());
  CHECK(again->version == 3);
}

TEST_CASE("the kept file of version 2 loads") {
  const auto p = read_platform(GT_PLATFORMS "/version2.json");
  REQUIRE_MESSAGE(p.ok(), p.status().text());
  const DeviceCosts& d = p->devices.at(0);
  CHECK(d.type == DeviceType::Gpu);
  CHECK(d.costs(Policy::Standard)->allocation.quality()->noisy == std::vector<double>{4096});
  CHECK_FALSE(d.costs(Policy::Standard)->allocation.trusted(5000));
  CHECK(d.costs(Policy::Standard)->allocation.trusted(1 << 20));
  CHECK_FALSE(d.costs(Policy::Standard)->allocation.trusted(1 << 21));
  CHECK((*d.pin)(134217728) == 11000000);
  CHECK(d.staged->threads == 8);
  CHECK(d.svm->pinned.d2h(4096) == 8100);
  CHECK(d.svm->staged->h2d(4194304) == 150000);
  CHECK(d.launch->async_ns == 4100.5);
  CHECK(p->host.copy_threads.at(2) == CopyRate{4, 31e9});
  CHECK(p->failed.at(0).name == "Broken GPU");
  CHECK_FALSE(p->unlisted);  // measured by those who measured all
}

TEST_CASE("the kept file of version 3 loads, and what it brought is refused in older ones") {
  const std::string text = file_text(GT_PLATFORMS "/version3.json");
  const auto p = parse_platform(text, "p");
  REQUIRE_MESSAGE(p.ok(), p.status().text());
  CHECK(p->unlisted);
  CHECK(p->unused.at(0).name == "Second GPU");
  CHECK(p->failed.at(0).given_up);
  CHECK(p->unfinished.at(0).steps.size() == 2);
  CHECK((*p->unfinished.at(0).costs.copy)(4096) == 11000);
  const auto problem = [&](const char* from, const char* to) {
    const auto r = parse_platform(replaced(text, from, to), "p");
    REQUIRE_FALSE(r.ok());
    return r.status().text();
  };
  CHECK(problem("\"version\": 3", "\"version\": 2") == "p: top level: unknown key \"unfinished\"");
  CHECK(problem("\"steps\"", "\"stops\"") == "p: unfinished[0]: unknown key \"stops\"");
  CHECK(problem(", \"steps\": [\"launch\", \"copy\"]", "") == "p: unfinished[0]: \"steps\" is missing");
  CHECK(problem("\"given_up\": true", "\"given_up\": 1") == "p: failed[0].given_up: true or false is expected");
  CHECK(problem("\"unlisted\": true", "\"unlisted\": \"yes\"") == "p: unlisted: true or false is expected");
}

TEST_CASE("a file that says version 1 may hold nothing newer") {
  const std::string new_file = file_text(GT_PLATFORMS "/version2.json");
  const auto r = parse_platform(replaced(new_file, "\"version\": 2", "\"version\": 1"), "p");
  REQUIRE_FALSE(r.ok());
  CHECK(r.status().text() == "p: top level: unknown key \"host\"");
  const std::string old_file = file_text(GT_PLATFORMS "/version1.json");
  const auto s = parse_platform(replaced(old_file, "[[64, 5000]]", "{\"knots\": [[64, 5000]]}"), "p");
  REQUIRE_FALSE(s.ok());
  CHECK(s.status().text() == "p: devices[0].policies.locked.h2d: a list of [size, ns] is expected");
}

TEST_CASE("errors in what version 2 brought name their place") {
  const std::string good = file_text(GT_PLATFORMS "/version2.json");
  const auto problem = [&](const char* from, const char* to) {
    const auto r = parse_platform(replaced(good, from, to), "p");
    REQUIRE_FALSE(r.ok());
    CHECK(r.status().kind() == Kind::Corrupt);
    return r.status().text();
  };
  CHECK(problem("\"gpu\"", "\"toaster\"") == "p: devices[0].type: no type of device is called so");
  CHECK(problem("\"host_unified\": false", "\"host_unified\": 0") ==
        "p: devices[0].host_unified: true or false is expected");
  CHECK(problem("134217728, 11000000", "134217728, 1") == "p: devices[0].pin: a curve's sizes and times must ascend");
  CHECK(problem("\"threads\": 8", "\"threads\": 2000000") == "p: devices[0].staged.threads: out of range");
  CHECK(problem("\"chunk_bytes\": 4194304", "\"chunk_bytes\": 0") == "p: devices[0].staged.chunk_bytes: out of range");
  CHECK(problem("\"sync_ns\": 9300", "\"sync_ns\": -1") == "p: devices[0].launch.sync_ns: out of range");
  CHECK(problem("\"read\"", "\"reed\"") == "p: devices[0].map: \"read\" is missing");
  CHECK(problem("[2, 20500000000.0]", "[1, 20500000000.0]") ==
        "p: host.copy_threads[1]: numbers of threads must ascend");
  CHECK(problem("[2, 20500000000.0]", "[2]") == "p: host.copy_threads[1]: [threads, bytes a second] is expected");
  const std::string place = "p: devices[0].policies.standard.allocation";
  CHECK(problem("\"outliers\": 2", "\"outliers\": 61").find(place + ": the measured range") == 0);
  CHECK(problem("\"noisy\": [4096]", "\"noisy\": [32]").find(place + ": the measured range") == 0);
  CHECK(problem("\"noisy\": [4096]", "\"noisy\": [\"all\"]") == place + ".noisy[0]: a number is expected");
  CHECK(problem("\"measured\": [64, 1048576]", "\"measured\": 64") ==
        place + ".measured: [least size, largest size] is expected");
  CHECK(problem("\"worst_error\"", "\"best_error\"") == place + ": \"worst_error\" is missing");
  CHECK(problem("\"error\": \"cl", "\"error\": 7, \"why\": \"cl").find("p: failed[0]") == 0);
  CHECK(problem("\"duplex\": [[4096, 41000]]", "\"duplex\": []").find("p: devices[0].duplex: ") == 0);
}

TEST_CASE("no truncation is accepted or crashes") {
  const std::string good = format_platform(full_sample());
  for (size_t n = 0; n + 2 < good.size(); ++n)
    CHECK_FALSE(parse_platform(good.substr(0, n), "t").ok());
}

TEST_CASE("damaged bytes never crash") {
  const std::string good = format_platform(full_sample());
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

TEST_CASE("a file made with other graphics cards is refused, where the system shows them") {
  Machine here = this_machine();
  Platform p = sample();
  here.accelerators = "10de:2335 10de:2335";
  p.machine.accelerators = "10de:20b2";
  CHECK(matches_here(p, here).text().find("another set of graphics cards or accelerators") != std::string::npos);
  CHECK(fingerprint(p.machine) != fingerprint(here));
  p.machine.accelerators = here.accelerators;
  CHECK(matches_here(p, here).ok());
  p.machine.accelerators.reset();  // a file of before
  CHECK(matches_here(p, here).ok());
  here.accelerators.reset();
  p.machine.accelerators = "";
  CHECK(matches_here(p, here).ok());
}

TEST_CASE("graphics cards and accelerators are found without a driver") {
  namespace fs = std::filesystem;
  char folder[] = "/tmp/platform_test.XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string root = folder;
  CHECK_FALSE(accelerators(root));
  const auto add = [&](const char* name, const char* what, const char* vendor, const char* device) {
    const fs::path path = root + "/sys/bus/pci/devices/" + name;
    fs::create_directories(path);
    std::ofstream(path / "class") << what << "\n";
    std::ofstream(path / "vendor") << vendor << "\n";
    std::ofstream(path / "device") << device << "\n";
  };
  add("0000:00:01.0", "0x010802", "0x144d", "0xa808");  // a disk
  CHECK(accelerators(root) == "");
  add("0000:1b:00.0", "0x030200", "0x10de", "0x2335");
  add("0000:02:00.0", "0x030000", "0x1a03", "0x2000");
  add("0000:9a:00.0", "0x120000", "0x1002", "0x74a1");
  add("0000:43:00.0", "0x030200", "0x10de", "0x2335");
  CHECK(accelerators(root) == "1002:74a1 10de:2335 10de:2335 1a03:2000");
  fs::remove_all(root);
}

namespace {

DeviceCosts device_of(const char* name, bool quick, double ns) {
  DeviceCosts d = sample().devices[0];
  d.name = name;
  d.quick = quick;
  d.launch = LaunchCosts{ns, ns};
  return d;
}

// Names with their launch times, then what failed.
std::string content(const Platform& p) {
  std::string out = p.quick ? "quick:" : "full:";
  for (const DeviceCosts& d : p.devices) out += " " + d.name + std::to_string(static_cast<int>(d.launch->sync_ns));
  for (const FailedDevice& f : p.failed) out += " -" + f.name;
  return out;
}

}  // namespace

TEST_CASE("measuring again loses nothing that was not measured better") {
  const FailedDevice broken{sample().devices[0].platform, "c", "3.1", "clFinish failed (-36)", 7};
  Platform before = full_sample();
  before.devices = {device_of("a", false, 1), device_of("b", true, 2)};
  before.failed = {broken};
  Platform fresh = sample();
  fresh.devices = {device_of("b", false, 9)};
  fresh.quick = false;
  CHECK(content(merge_platforms(fresh, before, Wanted::All)) == "full: b9");
  CHECK(content(merge_platforms(fresh, before, Wanted::Chosen)) == "full: b9 a1 -c");
  CHECK(content(merge_platforms(fresh, before, Wanted::Missing)) == "full: b9 a1");
  CHECK(merge_platforms(fresh, before, Wanted::All).links.size() == 1);
  CHECK_FALSE(merge_platforms(fresh, before, Wanted::All).host.first_touch);

  fresh.devices = {device_of("b", true, 9), device_of("a", true, 8), device_of("a", true, 8)};
  fresh.quick = true;
  const Platform kept = merge_platforms(fresh, before, Wanted::All);
  CHECK(content(kept) == "full: b9 a1");  // the full measurement stays
  CHECK(kept.host.first_touch);
  before.devices[0].quick = true;
  CHECK(content(merge_platforms(fresh, before, Wanted::All)) == "quick: b9 a8 a8");

  fresh.devices = {device_of("b", true, 9)};
  fresh.failed = {{sample().devices[0].platform, "a", "3.1", "clFinish failed (-36)", 8}};
  CHECK(content(merge_platforms(fresh, before, Wanted::All)) == "quick: b9 a1 -a");
  fresh.devices = {device_of("c", true, 5)};
  fresh.failed.clear();
  CHECK(content(merge_platforms(fresh, before, Wanted::Chosen)) == "quick: c5 a1 b2");
  CHECK(costs_of(before, before.devices[1])->launch->sync_ns == 2);
  CHECK_FALSE(has_costs(before, broken));
}

TEST_CASE("what is not measured yet stays until it is") {
  const auto named = [](const char* name) { return DeviceName{sample().devices[0].platform, name, "3.1"}; };
  Platform before = sample();
  before.devices.clear();
  before.unfinished = {{device_of("a", true, 1), {"launch"}}};
  before.failed = {{named("f").platform, "f", "3.1", "clFinish failed (-36)", 7}};
  before.unlisted = true;
  Platform fresh = sample();
  fresh.devices = {device_of("b", true, 2)};
  fresh.unused = {named("a"), named("b"), named("c"), named("f")};
  const Platform listed = merge_platforms(fresh, before, Wanted::Chosen);
  CHECK(content(listed) == "quick: b2 -f");
  CHECK(listed.unused == std::vector{named("c")});  // of the others more is known
  CHECK_FALSE(listed.unlisted);
  CHECK(unfinished_of(listed, named("a"))->steps.size() == 1);

  fresh.devices = {device_of("a", true, 3)};
  fresh.unused.clear();
  fresh.unlisted = true;  // nobody has looked
  const Platform done = merge_platforms(fresh, listed, Wanted::Chosen);
  CHECK(done.unfinished.empty());
  CHECK(done.unused == std::vector{named("c")});
  CHECK_FALSE(done.unlisted);
  CHECK(merge_platforms(fresh, before, Wanted::Chosen).unlisted);

  fresh.devices.clear();
  fresh.unlisted = false;
  fresh.unfinished = {{device_of("a", true, 4), {"launch", "copy"}}};
  CHECK(unfinished_of(merge_platforms(fresh, before, Wanted::Missing), named("a"))->steps.size() == 2);
  fresh.unfinished.clear();
  CHECK(merge_platforms(fresh, before, Wanted::Missing).unfinished.size() == 1);
  CHECK(merge_platforms(fresh, before, Wanted::All).unfinished.empty());
  CHECK(has_costs(listed, named("b")));
  CHECK(failure_of(listed, named("f"))->time_s == 7);
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
  const std::string link = std::string(folder) + "/link.json";
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  REQUIRE(write_platform(full_sample(), link).ok());
  CHECK(read_platform(path)->failed.size() == 2);  // the file behind the link, not the link
  const Status full = write_platform(sample(), "/dev/full");
  CHECK(full.kind() == Kind::System);
  CHECK(full.text().find("/dev/full") != std::string::npos);
  CHECK(std::system(("rm -r " + std::string(folder)).c_str()) == 0);
}
