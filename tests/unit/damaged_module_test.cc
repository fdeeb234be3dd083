// Modules that are cut short or damaged in any byte, also in their debug information: words, no crash, no hang.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "analyzer/code/call_site.h"
#include "traces/base/build_id.h"

using namespace gt;
namespace fs = std::filesystem;

namespace {

struct Scratch {
  fs::path dir;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "gt_damaged_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    dir = name;
  }
  ~Scratch() { fs::remove_all(dir); }
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Asks for places all over the program, in a process of its own. True: it came back by itself.
bool survives(const model::Module& module) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    analyzer::CallSites sites;
    size_t length = 0;
    for (uint64_t offset = 0; offset < 0x5000; offset += 97) length += sites.find(module, offset).places().size();
    ::_exit(length > 0 ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a damaged module costs its names, nothing else") {
  const Scratch scratch;
  const std::string good = slurp(GT_KNOWN_SOURCES);
  REQUIRE(good.size() > 10'000);
  model::Module module;
  module.path = (scratch.dir / "app").string();
  spill(module.path, good);
  module.build_id = build_id_of_file(module.path);
  CHECK(survives(module));

  for (size_t length = 0; length < good.size(); length += length < 256 ? 17 : good.size() / 40) {
    INFO("cut at " << length);
    spill(module.path, good.substr(0, length));
    CHECK(survives(module));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    std::string bad = good;
    // Headers and sections at both ends of the file hold most that is believed.
    const size_t from = round % 3 == 0 ? 0 : round % 3 == 1 ? good.size() - good.size() / 8 : 0;
    const size_t reach = round % 3 == 0 ? 2048 : good.size() - from;
    for (int k = 0; k < 1 + round * 4; ++k) bad[from + random() % reach] = static_cast<char>(random());
    INFO("round " << round);
    spill(module.path, bad);
    CHECK(survives(module));
  }
}
