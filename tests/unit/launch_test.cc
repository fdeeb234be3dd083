// Finding, judging and running the user's program.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/launch.h"
#include "tracer/interpose/program_file.h"

using namespace gt::interpose;
using std::chrono::milliseconds;

namespace {

struct Directory {
  std::string path;
  Directory() {
    char name[] = "/tmp/gt_launch_XXXXXX";
    path = mkdtemp(name);
  }
  ~Directory() { (void)!std::system(("rm -rf " + path).c_str()); }
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0755) const {
    const std::string whole = path + "/" + name;
    std::ofstream(whole, std::ios::binary) << text;
    chmod(whole.c_str(), mode);
    return whole;
  }
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

gt::Result<LaunchPlan> plan(std::vector<std::string> command, std::string library = "") {
  return plan_launch({std::move(command), std::move(library), {}});
}

int status_of(std::vector<std::string> command) {
  auto p = plan(std::move(command));
  REQUIRE(p.ok());
  auto running = Launched::start(*p);
  REQUIRE(running.ok());
  CHECK(running->wait(milliseconds(-1)));
  return running->exit_status();
}

std::string variable(const LaunchPlan& p, const std::string& name) {
  std::string found = "(none)";
  int times = 0;
  for (const std::string& entry : p.environment) {
    if (entry.compare(0, name.size() + 1, name + "=") != 0) continue;
    found = entry.substr(name.size() + 1);
    ++times;
  }
  CHECK(times <= 1);
  return found;
}

}  // namespace

TEST_CASE("programs are found as execvp finds them; what cannot run is said in one line") {
  auto sh = find_program("sh");
  REQUIRE(sh.ok());
  CHECK(sh->path.front() == '/');
  CHECK(sh->obstacles.empty());
  CHECK(sh->preloadable);
  const Directory d;
  const std::string plain = d.file("plain", "text", 0644);
  for (const std::string& name : {std::string("no-such-program-anywhere"), d.path + "/missing",
                                  plain, d.path, std::string()}) {
    auto found = find_program(name);
    REQUIRE_FALSE(found.ok());
    CHECK(found.status().kind() == gt::Kind::Invalid);
    CHECK(found.status().text().find('\n') == std::string::npos);
  }
}

TEST_CASE("a script is judged by what runs it") {
  const Directory d;
  auto direct = find_program(d.file("a", "#!/bin/sh\n"));
  REQUIRE(direct.ok());
  CHECK(direct->binary == "/bin/sh");
  auto by_env = find_program(d.file("b", "#! /usr/bin/env -S sh -e\n"));
  REQUIRE(by_env.ok());
  CHECK(by_env->binary.substr(by_env->binary.rfind('/')) == "/sh");
  auto twice = find_program(d.file("c", "#!" + d.path + "/a\n"));
  REQUIRE(twice.ok());
  CHECK(twice->binary == "/bin/sh");
  CHECK_FALSE(find_program(d.file("d", "#!/no/such/interpreter\n")).ok());
  CHECK_FALSE(find_program(d.file("e", "#!" + d.path + "/e\n")).ok());
}

TEST_CASE("static programs, other processors and privileges are obstacles") {
  const Directory d;
  std::string elf = contents("/bin/true");
  REQUIRE(elf.size() > 1000);
  elf[18] = 0x3e ^ 0x55;  // e_machine
  auto other = find_program(d.file("other", elf));
  REQUIRE(other.ok());
  CHECK_FALSE(other->preloadable);
  CHECK(other->obstacles.size() == 1);
  auto fixed = find_program(GT_STATIC_PROGRAM);
  REQUIRE(fixed.ok());
  CHECK_FALSE(fixed->preloadable);
  CHECK(fixed->obstacles.at(0).find("statically linked") != std::string::npos);
  if (geteuid() == 0) {
    const std::string setuid = d.file("setuid", contents("/bin/true"));
    REQUIRE(chown(setuid.c_str(), 65534, 65534) == 0);
    REQUIRE(chmod(setuid.c_str(), 04755) == 0);
    auto p = plan({setuid}, "/x/libOpenCL.so.1");
    REQUIRE(p.ok());
    CHECK_FALSE(p->preloads);
    CHECK(p->obstacles.size() == 1);
  }
}

TEST_CASE("a damaged ELF file is never read beyond its end") {
  const Directory d;
  const std::string elf = contents("/bin/true");
  uint64_t seed = 1;
  const auto random = [&] {
    return seed = seed * 6364136223846793005u + 1442695040888963407u, seed >> 33;
  };
  for (int i = 0; i < 400; ++i) {
    std::string damaged = elf.substr(0, i % 2 ? random() % elf.size() : elf.size());
    for (int k = 0; k < 8 && damaged.size() > 64; ++k)
      damaged[random() % (k < 5 ? 64 : damaged.size())] = static_cast<char>(random());
    auto file = ElfFile::open(d.file("damaged", damaged));
    REQUIRE(file.ok());
    file->has_interpreter();
    file->runpath();
    file->needed();
    file->defines("clGetPlatformIDs");
  }
  auto whole = ElfFile::open("/bin/true");
  REQUIRE(whole.ok());
  CHECK(whole->has_interpreter());
  CHECK(whole->needed().at(0).find("libc.so") == 0);
}

TEST_CASE("the environment carries the library, in front of what was there") {
  setenv("LD_PRELOAD", "/y.so", 1);
  setenv("LD_LIBRARY_PATH", "/a:/b", 1);
  auto p = plan_launch({{"true", "x"}, "/lib dir/x.so", {}});
  CHECK_FALSE(p.ok());
  CHECK(p.status().kind() == gt::Kind::Unsupported);
  p = plan_launch({{"true", "x"}, "/some/libOpenCL.so.1", {{"GTRACE_SPOOL", "/s"}}});
  unsetenv("LD_PRELOAD");
  unsetenv("LD_LIBRARY_PATH");
  REQUIRE(p.ok());
  CHECK(p->preloads);
  CHECK(variable(*p, "LD_PRELOAD") == "/some/libOpenCL.so.1:/y.so");
  CHECK(variable(*p, "LD_LIBRARY_PATH") == "/some:/a:/b");
  CHECK(variable(*p, "GTRACE_SPOOL") == "/s");
  CHECK(variable(*p, "GTRACE_OPENCL_LIBRARY") == p->opencl_library);
  CHECK(p->opencl_library.find("/libOpenCL.so") != std::string::npos);
  CHECK(variable(*p, "PATH") == getenv("PATH"));
  p = plan_launch({{"true"}, "/some/libOpenCL.so.1", {}});
  REQUIRE(p.ok());
  CHECK(variable(*p, "LD_LIBRARY_PATH") == "/some");
}

TEST_CASE("exit statuses and signals are passed on") {
  CHECK(status_of({"true"}) == 0);
  CHECK(status_of({"sh", "-c", "exit 55"}) == 55);
  CHECK(status_of({"sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
  CHECK(status_of({"sh", "-c", "kill -TERM $$"}) == 128 + SIGTERM);
  const Directory d;
  CHECK(status_of({d.file("plain", "exit 9\n")}) == 9);  // a text file without "#!": a shell script
  auto broken = plan({d.file("broken", contents("/bin/true").substr(0, 70))});
  REQUIRE(broken.ok());
  auto running = Launched::start(*broken);
  REQUIRE_FALSE(running.ok());
  CHECK(running.status().kind() == gt::Kind::Invalid);
}

TEST_CASE("the caller may look while the program runs") {
  const Directory d;
  auto p = plan({"sh", "-c", "while [ ! -e " + d.path + "/go ]; do sleep 0.02; done"});
  auto running = Launched::start(*p);
  REQUIRE(running.ok());
  CHECK_FALSE(running->wait(milliseconds(0)));
  CHECK_FALSE(running->wait(milliseconds(20)));
  d.file("go", "");
  CHECK(running->wait(milliseconds(60000)));
  CHECK(running->wait(milliseconds(0)));
  CHECK(running->exit_status() == 0);
}

TEST_CASE("signals that are sent to us reach the program") {
  struct sigaction before {
  }, after{};
  sigaction(SIGTERM, nullptr, &before);
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    const Directory d;
    auto p = plan({"sh", "-c",
                   "trap 'exit 33' TERM INT HUP USR1; : > " + d.path +
                       "/ready; while :; do sleep 0.02; done"});
    auto running = Launched::start(*p);
    REQUIRE(running.ok());
    for (int i = 0; i < 6000 && access((d.path + "/ready").c_str(), F_OK) != 0; ++i) usleep(10000);
    kill(getpid(), number);
    CHECK(running->wait(milliseconds(60000)));
    CHECK(running->exit_status() == 33);
  }
  sigaction(SIGTERM, nullptr, &after);
  CHECK((before.sa_handler == after.sa_handler));
}

namespace {
volatile sig_atomic_t g_own_signal = 0;
}

TEST_CASE("signals that are ours do not reach the program") {
  const Directory d;
  auto p = plan({"sh", "-c",
                 "trap 'exit 33' TERM; trap 'exit 34' USR1; : > " + d.path + "/ready; while :; do sleep 0.02; done"});
  p->own_signals = {SIGUSR1};
  signal(SIGUSR1, [](int) { g_own_signal = 1; });
  auto running = Launched::start(*p);
  REQUIRE(running.ok());
  for (int i = 0; i < 6000 && access((d.path + "/ready").c_str(), F_OK) != 0; ++i) usleep(10000);
  kill(getpid(), SIGUSR1);
  CHECK(g_own_signal == 1);
  kill(getpid(), SIGTERM);
  CHECK(running->wait(milliseconds(60000)));
  CHECK(running->exit_status() == 33);
  signal(SIGUSR1, SIG_DFL);
}

TEST_CASE("the program's signals and descriptors are as without us") {
  const Directory d;
  const std::string script =
      "grep -E 'SigIgn|SigBlk' /proc/self/status > $0.signals; ls /proc/self/fd | wc -l > $0.fds";
  const std::string bare = d.path + "/bare", launched = d.path + "/launched";
  setenv("script", script.c_str(), 1);
  signal(SIGHUP, SIG_IGN);
  REQUIRE(std::system(("sh -c \"$script\" " + bare).c_str()) == 0);
  signal(SIGCHLD, SIG_IGN);
  CHECK(status_of({"sh", "-c", script, launched}) == 0);
  signal(SIGHUP, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  CHECK(contents(bare + ".fds") == contents(launched + ".fds"));
  const auto ignored = [](const std::string& text) {
    return std::stoul(text.substr(text.find("SigIgn:") + 8), nullptr, 16) & 0x7fffffff;
  };
  const std::string before = contents(bare + ".signals"), after = contents(launched + ".signals");
  CHECK(before.substr(0, before.find('\n')) == after.substr(0, after.find('\n')));
  CHECK(ignored(before) == ignored(after));
  CHECK((ignored(after) & (1ul << (SIGHUP - 1))) != 0);
}
