// The same kernels, compiled to SPIR-V by others' compilers without optimization: the answers that were worked out by
// hand for OpenCL C. Skipped where there is no clang with llvm-spirv of its version.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "tests/unit/kernel_answers.h"
#include "traces/base/bytes.h"
#include "traces/kernels/spirv_kernels.h"

using namespace gt;
using namespace gt::testing;

namespace {

bool runs(const std::string& command) { return std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) == 0; }

// Of clang and llvm-spirv, the first that are both there; "": none.
std::string version() {
  for (const char* v : {"14", "15", "16", "17", "18", "19"})
    if (runs(std::string("clang-") + v + " --version") && runs(std::string("llvm-spirv-") + v + " --version")) return v;
  return "";
}

// Empty where the compilers do not take the source: each misses some of OpenCL C.
Bytes compiled(const std::filesystem::path& source, const Sample& sample, const std::string& version) {
  const std::string folder = std::filesystem::path(GT_KERNELS).string();
  const std::string out = (std::filesystem::temp_directory_path() / ("gtrace-" + std::to_string(::getpid()))).string();
  const std::string standard = sample.options.find("-cl-std") == std::string::npos ? " -cl-std=CL1.2" : "";
  const std::string clang =
      "clang-" + version +
      " -target spir64 -x cl -w -O0 -cl-kernel-arg-info -emit-llvm -c -Xclang -finclude-default-header" + standard +
      " " + sample.options + " -I" + folder + " -o " + out + ".bc " + source.string();
  const std::string spirv = "llvm-spirv-" + version + " --spirv-ext=+all " + out + ".bc -o " + out + ".spv";
  Bytes module;
  if (runs(clang + " && " + spirv)) {
    std::ifstream in(out + ".spv", std::ios::binary);
    module.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const char* suffix : {".bc", ".spv"}) std::filesystem::remove(out + suffix);
  return module;
}

void compare(const kernels::Kernel& k, const Answer& answer, Score& score) {
  REQUIRE_MESSAGE(k.args.size() == answer.size(), k.name);
  size_t exact = 0;
  for (size_t i = 0; i < answer.size(); ++i) {
    std::string space;
    const unsigned found = static_cast<unsigned>(k.args[i].access), wanted = split(answer[i].second, space);
    CHECK(k.args[i].name == answer[i].first);
    CHECK_MESSAGE(kernels::address_space_name(k.args[i].space) == space, k.name, ".", answer[i].first);
    CHECK_MESSAGE((found & wanted) == wanted, "unsound: ", k.name, ".", answer[i].first);
    exact += found == wanted;
  }
  ++score.kernels;
  score.exact_kernels += exact == answer.size();
}

}  // namespace

TEST_CASE("kernels with known answers, as SPIR-V") {
  const std::string compilers = version();
  if (compilers.empty()) {
    MESSAGE("skipped: no clang with llvm-spirv here");
    return;
  }
  Score score;
  for (const auto& file : std::filesystem::directory_iterator(GT_KERNELS)) {
    // Asks what device it is for: its answers hold for all devices, a module is for one.
    if (file.path().filename() == "devices.cl") continue;
    const Sample sample = read_sample(file.path());
    const Bytes module = compiled(file.path(), sample, compilers);
    if (module.empty()) continue;
    const kernels::Source s = kernels::read_spirv(module);
    CHECK_MESSAGE(s.exact, file.path().filename(), ": ", s.note);
    for (const kernels::Kernel& k : s.kernels)  // with those that the compiler makes of blocks
      if (sample.kernels.contains(k.name)) compare(k, sample.kernels.at(k.name), score);
  }
  MESSAGE("exact: ", score.exact_kernels, " of ", score.kernels, " kernels");
  CHECK(score.kernels >= 100);
  CHECK(score.share() >= 0.95);
}
