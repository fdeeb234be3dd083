// gproxy's parts that need no process: devices and their selection, what workers are told, the loop, the log's limits.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "transport/gproxy/allowance.h"
#include "transport/gproxy/build_turns.h"
#include "transport/gproxy/devices.h"
#include "transport/gproxy/event_loop.h"
#include "transport/gproxy/serve.h"
#include "transport/gproxy/worker_plan.h"

using namespace gt;
using namespace gt::proxy;

namespace {

const std::vector<DeviceFacts> Devices = {{0, "NVIDIA CUDA", "NVIDIA H200", "gpu", 150ull << 30},
                                          {1, "NVIDIA CUDA", "NVIDIA H200", "gpu", 150ull << 30},
                                          {2, "PoCL", "cpu-epyc \"x\"", "cpu", 8ull << 30}};

std::vector<unsigned> chosen(const char* wanted) {
  std::vector<unsigned> numbers;
  const auto devices = select_devices(Devices, wanted);
  if (devices) {
    for (const DeviceFacts& d : *devices) numbers.push_back(d.number);
  }
  return numbers;
}

struct Folder {
  std::string path = "/tmp/gtrace-proxy-test-XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
};

unsigned mode_of(const std::string& path) {
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777;
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("devices are chosen by number, type, name and pattern") {
  using Numbers = std::vector<unsigned>;
  CHECK(chosen("all") == Numbers{0, 1, 2});
  CHECK(chosen("1") == Numbers{1});
  CHECK(chosen("2,0,2") == Numbers{0, 2});
  CHECK(chosen("gpu") == Numbers{0, 1});
  CHECK(chosen("h200") == Numbers{0, 1});
  CHECK(chosen("*EPYC*") == Numbers{2});
  CHECK(chosen("nvidia*,cpu") == Numbers{0, 1, 2});
  for (const char* none : {"", ",", "3", "H200*", "accelerator", "gpu,9", "99999999999999"}) {
    CAPTURE(none);
    CHECK(select_devices(Devices, none).status().kind() == Kind::Invalid);
  }
}

TEST_CASE("the list of devices survives its way as JSON; anything else is corrupt") {
  const auto back = inventory_from_json(to_json({Devices, {"a note"}}));
  REQUIRE(back);
  REQUIRE(back->devices.size() == 3);
  CHECK(back->devices[2].name == "cpu-epyc \"x\"");
  CHECK(back->devices[0].memory_bytes == 150ull << 30);
  CHECK(back->notes == std::vector<std::string>{"a note"});
  for (const char* text : {"", "{", "[]", "{\"devices\":[{}],\"notes\":[]}", "{\"devices\":1,\"notes\":[]}"}) {
    CHECK(inventory_from_json(text).status().kind() == Kind::Corrupt);
  }
  CHECK(inventory_from_json(to_json({{{0, "\xff\xfe", "n", "gpu", 1}}, {}})));  // drivers' texts may be no UTF-8
}

TEST_CASE("what a worker is told survives its way as words") {
  WorkerPlan plan;
  plan.devices = {0, 3};
  plan.memory_bytes = 1;
  plan.objects = 2;
  plan.build_seconds = 3;
  plan.in_flight_bytes = ~uint64_t{0};
  plan.token_file = "a=b c";
  plan.cert = "d";
  plan.key = "e";
  plan.ca = "f";
  const auto back = plan_from_words(to_words(plan));
  REQUIRE(back);
  CHECK(to_words(*back) == to_words(plan));
  CHECK(back->devices == plan.devices);
  CHECK(back->in_flight_bytes == plan.in_flight_bytes);
  CHECK(back->token_file == plan.token_file);
  for (const char* word : {"", "devices", "devices=x", "memory=-1", "objects=1x", "other=1"}) {
    CHECK(plan_from_words({word}).status().kind() == Kind::Invalid);
  }
}

TEST_CASE("the loop calls who is ready and what is due, in order, and forgets what was dropped") {
  const std::unique_ptr<EventLoop> loop = std::move(*EventLoop::make());
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const Fd reader(pipe[0]), writer(pipe[1]);
  std::string seen;
  EventLoop::Watch watch;
  watch = loop->watch(reader.get(), [&] {
    seen += 'r';
    watch = {};  // from within its own call; the byte stays, and is not seen again
  });
  REQUIRE(::write(writer.get(), "x", 1) == 1);
  EventLoop::Timer last = loop->after(std::chrono::milliseconds(30), [&] { loop->stop(); });
  EventLoop::Timer second = loop->after(std::chrono::milliseconds(20), [&] { seen += '2'; });
  EventLoop::Timer first = loop->after(std::chrono::milliseconds(10), [&] { seen += '1'; });
  EventLoop::Timer dropped = loop->after(std::chrono::milliseconds(5), [&] { seen += 'd'; });
  CHECK(dropped.set());
  dropped = {};
  CHECK_FALSE(dropped.set());
  loop->run();
  CHECK(seen == "r12");
  CHECK_FALSE(first.set());
}

TEST_CASE("a burst of lines is let through, the rest is counted") {
  Allowance allowance;
  unsigned passed = 0;
  for (int i = 0; i < 10'000; ++i) passed += allowance.take();
  CHECK(passed >= 100);
  const uint64_t left_out = allowance.take_left_out();
  CHECK(passed + left_out == 10'000);
  CHECK(left_out > 0);
  CHECK(allowance.take_left_out() == 0);
}

TEST_CASE("a token is made once, for its owner only, in a folder of his own") {
  const Folder folder;
  const std::string path = folder.path + "/new/gtrace/token";
  const auto made = have_token(path);
  REQUIRE(made);
  CHECK(*made);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(folder.path + "/new/gtrace") == 0700);
  const std::string first = content(path);
  CHECK(first.size() == 65);
  const auto again = have_token(path);
  REQUIRE(again);
  CHECK_FALSE(*again);
  CHECK(content(path) == first);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path + "/new/gtrace"), {}) == 1);
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  CHECK(have_token(path).status().kind() == Kind::Invalid);
}

TEST_CASE("what builds the same waits for its turn; what builds another thing does not") {
  const Fd turns = build_turns();
  REQUIRE(turns.open());
  Fd mine = take_build_turn(turns.get(), "kernel void a() {}");
  std::atomic<bool> had{false};
  std::thread other([&] {
    const Fd its = take_build_turn(turns.get(), "kernel void a() {}");
    had = true;
  });
  CHECK(take_build_turn(turns.get(), "kernel void b() {}").open());
  ::usleep(50'000);
  CHECK_FALSE(had);
  mine = Fd();
  other.join();
  CHECK(had);
}

TEST_CASE("a process that ends in any way gives its turn back") {
  const Fd turns = build_turns();
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd its = take_build_turn(turns.get(), "x");
    (void)!::write(ready[1], "r", 1);
    ::pause();
  }
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  CHECK(take_build_turn(turns.get(), "x").open());
  ::waitpid(child, nullptr, 0);
}
