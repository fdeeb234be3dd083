// A program asks for what a device costs: the requests, the plan that comes to know more devices, and which devices are
// worth being measured.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "optimizer-rt/goptimize/answering.h"
#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/inputs.h"
#include "optimizer-rt/goptimize/session.h"
#include "optimizer-rt/pool/held_plan.h"

using namespace gt;
using namespace gt::opt;

namespace {

constexpr uint64_t Now = 1'795'382'400, Day = 24 * 3600;

DeviceTexts texts(const char* name) {
  DeviceTexts t = {};
  std::strcpy(t.platform, "P");
  std::strcpy(t.name, name);
  std::strcpy(t.driver, "1");
  return t;
}

std::unique_ptr<Requests> requests(uint64_t limit_ms) {
  auto r = std::make_unique<Requests>();
  r->limit_ms = limit_ms;
  return r;
}

model::DeviceCosts device(const char* name) {
  model::DeviceCosts d;
  d.platform = "P";
  d.name = name;
  d.driver = "1";
  model::PolicyCosts costs;
  costs.allocation = costs.h2d = costs.d2h = model::Curve::make({{64, 10}, {1 << 20, 5000}}).value();
  d.policies[0] = costs;
  return d;
}

model::Platform platform(std::vector<model::DeviceCosts> devices) {
  model::Platform p;
  p.machine = model::this_machine();
  p.devices = std::move(devices);
  return p;
}

std::string plan_bytes(std::vector<model::DeviceCosts> devices, bool asks) {
  model::Profile profile;
  model::ProfileSite site;
  site.module = "app";
  site.max_bytes = 1 << 20;
  profile.sites = {site};
  Decision decision;
  decision.sites.resize(1);
  decision.sites[0].policy = devices.empty() ? model::Policy::Standard : model::Policy::Pin;
  const model::Platform machine = platform(std::move(devices));
  const Staging staging = asks ? Staging::Never : Staging::Auto;
  return encode_plan(machine, profile, decision, false, staging, Reuse::Auto, false, asks).bytes;
}

// A plan's file that is replaced.
struct PlanFile {
  std::string path = "/tmp/asking_test." + std::to_string(::getpid());
  ~PlanFile() { std::remove(path.c_str()); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
};

std::string names(const PlanView& plan) {
  std::string out;
  for (const PlanDevice& d : plan.devices) out += d.name;
  return out;
}

}  // namespace

TEST_CASE("a device is asked for once, by however many, and answered") {
  const auto r = requests(10'000);
  int measured = 0;
  std::atomic<bool> done{false};
  std::thread goptimize([&] {
    while (!done) {
      answer_requests(*r, [&](const model::DeviceName& d) {
        ++measured;
        CHECK(d == model::DeviceName{"P", "a", "1"});
      });
      ::usleep(1000);
    }
  });
  CHECK(r->ask(texts("a")));
  std::thread other([&] { CHECK(r->ask(texts("a"))); });
  CHECK(r->ask(texts("a")));
  other.join();
  done = true;
  goptimize.join();
  CHECK(measured == 1);
}

TEST_CASE("nobody waits for goptimize when it is gone, nor longer than the limit says") {
  const auto r = requests(1);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> done{false};
  std::thread beating([&] {
    for (; !done; ::usleep(1000)) r->beats.fetch_add(1);  // but answers nothing
  });
  CHECK_FALSE(r->ask(texts("a")));
  done = true;
  beating.join();
  r->limit_ms = 60'000;
  CHECK_FALSE(r->ask(texts("b")));  // no beat
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(12));
}

TEST_CASE("nobody waits when goptimize has ended") {
  const auto r = requests(60'000);
  std::thread ending([&] {
    ::usleep(50'000);
    std::atomic_ref(r->limit_ms).store(0);
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(r->ask(texts("a")));
  CHECK_FALSE(r->ask(texts("b")));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  ending.join();
  CHECK(r->slots[1].state == RequestSlot::Free);  // it was not even asked
}

TEST_CASE("more devices than there are slots are not asked for") {
  const auto r = requests(10'000);
  for (RequestSlot& s : r->slots) s.state = RequestSlot::Writing;
  CHECK_FALSE(r->ask(texts("a")));
}

TEST_CASE("texts that the program damages end where their fields end") {
  DeviceTexts t = texts("a");
  std::memset(t.name, 'x', sizeof t.name);
  std::memset(t.driver, 'y', sizeof t.driver);
  CHECK(device_of(t) == model::DeviceName{"P", std::string(sizeof t.name, 'x'), std::string(sizeof t.driver, 'y')});
}

TEST_CASE("a plan without sites is replaced by a later one as a whole") {
  const PlanFile file;
  const auto held = std::make_unique<HeldPlan>();
  CHECK_FALSE(held->open(file.path.c_str()));
  CHECK(held->get().devices.empty());
  file.write(plan_bytes({}, true));
  REQUIRE(held->open(file.path.c_str()));
  CHECK(held->get().header->asks == 1);
  file.write(plan_bytes({device("a")}, false));
  const PlanView later = held->read_later();
  REQUIRE(later.header);
  CHECK(names(held->get()) == "");  // not before it is held
  held->hold(later);
  CHECK(names(held->get()) == "a");
  CHECK(held->get().sites.size() == 1);
  CHECK(held->get().header->asks == 0);
}

TEST_CASE("of a plan with sites only the devices are replaced, by more") {
  const PlanFile file;
  const auto held = std::make_unique<HeldPlan>();
  file.write(plan_bytes({device("a")}, true));
  REQUIRE(held->open(file.path.c_str()));
  const PlanView before = held->get();
  file.write(plan_bytes({device("a"), device("b")}, false));
  const PlanView later = held->read_later();
  REQUIRE(later.header);
  held->hold(later);
  CHECK(names(held->get()) == "ab");
  CHECK(held->get().sites.data() == before.sites.data());
  CHECK(held->get().header->devices == 2);
  CHECK(held->get().header->staging == static_cast<uint32_t>(Staging::Auto));
  CHECK(names(before) == "a");  // who looks at it still may

  for (const std::string& other :
       {plan_bytes({device("b"), device("a")}, true), plan_bytes({device("a")}, true), std::string("damaged")}) {
    file.write(other);
    CHECK_FALSE(held->read_later().header);
  }
}

TEST_CASE("a damaged flag is no plan") {
  std::string bytes = plan_bytes({}, true);
  alignas(8) char copy[sizeof(PlanHeader)];
  REQUIRE(bytes.size() == sizeof copy);
  std::memcpy(copy, bytes.data(), sizeof copy);
  const auto read = [&] { return read_plan(std::as_bytes(std::span(copy))).header != nullptr; };
  CHECK(read());
  reinterpret_cast<PlanHeader*>(copy)->asks = 2;
  CHECK_FALSE(read());
  reinterpret_cast<PlanHeader*>(copy)->asks = 1;
  reinterpret_cast<PlanHeader*>(copy)->huge_pages = 2;
  CHECK_FALSE(read());
}

TEST_CASE("a device is measured when it has no costs and did not fail lately") {
  model::Platform p = platform({device("a")});
  p.failed = {{"P", "day", "1", "clFinish failed (-36)", Now - Day},
              {"P", "hour", "1", "clFinish failed (-36)", Now - 3600},
              {"P", "wrong clock", "1", "clFinish failed (-36)", Now + Day},
              {"P", "slow", "1", "a driver did not come back", Now - 9 * Day, true}};
  const auto may = [&](const char* name) { return may_be_measured(p, {"P", name, "1"}, Now); };
  CHECK_FALSE(may("a"));
  CHECK(may("new"));
  CHECK(may("day"));
  CHECK_FALSE(may("hour"));
  CHECK(may("wrong clock"));
  CHECK_FALSE(may("slow"));
}

TEST_CASE("a program may open a device that is to be measured") {
  const auto incomplete = [](auto change) {
    model::Platform p = platform({device("a")});
    change(p);
    return may_be_incomplete(p, Now);
  };
  CHECK_FALSE(incomplete([](auto&) {}));
  CHECK(incomplete([](auto& p) { p.unlisted = true; }));
  CHECK(incomplete([](auto& p) { p.unused = {{"P", "b", "1"}}; }));
  CHECK(incomplete([](auto& p) { p.unfinished = {{device("b"), {}}}; }));
  CHECK(incomplete([](auto& p) { p.failed = {{"P", "b", "1", "it failed", Now - Day}}; }));
  CHECK_FALSE(incomplete([](auto& p) { p.failed = {{"P", "b", "1", "it failed", Now - 1}}; }));
  CHECK_FALSE(incomplete([](auto& p) {
    p.failed = {{"P", "b", "1", "too slow", Now - 9 * Day, true}};
    p.unfinished = {{device("b"), {}}};
  }));
  CHECK(incomplete([](auto& p) { p.failed = {{"", "first measurement", "", "of an earlier version", Now}}; }));
}

TEST_CASE("what was measured meanwhile comes behind what is known") {
  const PlanFile file;
  model::Platform known = platform({device("a"), device("b")});
  REQUIRE(model::write_platform(platform({device("c"), device("b"), device("a")}), file.path).ok());
  known.devices[0].quick = true;
  CHECK(add_devices(known, file.path) == 1);
  REQUIRE(known.devices.size() == 3);
  CHECK(known.devices[0].quick);  // as it was
  CHECK(known.devices[2].name == "c");
  CHECK(add_devices(known, file.path + ".none") == 0);
}
