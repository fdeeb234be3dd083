// The comparison of the benchmark programs: choosing them, medians, speedups and means, what is printed.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "microbench/base/child.h"
#include "microbench/suite/report.h"

namespace gt::bench {
namespace {

PolicyRuns runs(std::vector<double> times) { return {std::move(times), {}}; }

ProgramResult program(const char* name, double ratio, std::vector<double> plain, std::vector<double> optimized,
                      std::vector<double> pinned) {
  ProgramResult r;
  r.program = choose_programs(name).value()[0];
  r.dispatch_ratio = ratio;
  r.eligible = ratio >= 0.1;
  r.runs[static_cast<size_t>(RunPolicy::Default)] = runs(std::move(plain));
  r.runs[static_cast<size_t>(RunPolicy::Goptimize)] = runs(std::move(optimized));
  r.runs[static_cast<size_t>(RunPolicy::HandPinned)] = runs(std::move(pinned));
  return r;
}

Results three() {
  Results r{"a <device>", "small", 3, {RunPolicy::Default, RunPolicy::Goptimize, RunPolicy::HandPinned}, {}};
  r.programs.push_back(program("nn", 2.0, {4, 4.4, 3.6}, {1, 1, 1}, {0.5, 0.5, 0.5}));
  r.programs.push_back(program("sgemm", 0.05, {1, 1, 1}, {1.25, 1.25, 1.25}, {1, 1, 1}));
  r.programs.push_back(program("bfs", 0.5, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}));
  return r;
}

TEST_CASE("programs and policies are chosen by name, in the table's order, each once") {
  CHECK(choose_programs("")->size() == bench_programs().size());
  const auto two = choose_programs("spmv,nn,nn");
  REQUIRE(two.ok());
  REQUIRE(two->size() == 2);
  CHECK((*two)[0]->name == "nn");
  CHECK(choose_programs("nn,nix").status().text().find("nix") != std::string::npos);
  CHECK(choose_programs("nn,nix").status().kind() == Kind::Invalid);
  const auto policies = choose_policies("hand-pinned,default,default");
  REQUIRE(policies.ok());
  CHECK(*policies == std::vector{RunPolicy::Default, RunPolicy::HandPinned});
  CHECK_FALSE(choose_policies("").ok());
  CHECK_FALSE(choose_policies("Default").ok());
}

TEST_CASE("medians, spread and speedups") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  const Results r = three();
  CHECK(*time_s(r.programs[0], RunPolicy::Default) == 4);
  CHECK(spread(r.programs[0], RunPolicy::Default) == doctest::Approx(0.1));
  CHECK(*speed_over(r.programs[0], RunPolicy::Goptimize, RunPolicy::Default) == 4);
  CHECK(*speed_over(r.programs[0], RunPolicy::Goptimize, RunPolicy::HandPinned) == 0.5);
  CHECK_FALSE(time_s(r.programs[0], RunPolicy::GoptimizeNoProfile));
  CHECK_FALSE(speed_over(r.programs[0], RunPolicy::GoptimizeNoProfile, RunPolicy::Default));
}

TEST_CASE("slower than the default is what is so in nearly every round") {
  Results r = three();
  CHECK(speed_interval(r.programs[0], RunPolicy::Goptimize, RunPolicy::Default)->least == 3.6);
  CHECK(speed_interval(r.programs[0], RunPolicy::Goptimize, RunPolicy::Default)->most == 4.4);
  CHECK_FALSE(speed_interval(r.programs[0], RunPolicy::GoptimizeNoProfile, RunPolicy::Default));
  CHECK(slower_ones(r).empty());  // three rounds tell nothing
  // Rounds in pairs: the machine may be slower in one round than in another, and a few rounds may be odd.
  std::vector<double> plain, slow, same;
  for (int i = 1; i <= 16; ++i) {
    plain.push_back(i);
    slow.push_back(i <= 3 ? i / 2.0 : i * 1.25);
    same.push_back(i % 2 == 0 ? i * 1.25 : i / 1.25);
  }
  r.programs = {program("nn", 1, plain, slow, same)};
  CHECK(speed_interval(r.programs[0], RunPolicy::Goptimize, RunPolicy::Default)->most == doctest::Approx(0.8));
  CHECK(slower_ones(r) == std::vector<std::string>{"nn under goptimize: 0.80x (0.80 to 0.80)"});
  CHECK(format_table(r).find("beyond the noise: nn under goptimize") != std::string::npos);
}

TEST_CASE("means are over the eligible programs, or over the others") {
  Results r = three();
  const auto eligible = summarize(r, RunPolicy::Goptimize, RunPolicy::Default, true);
  REQUIRE(eligible);
  CHECK(eligible->count == 2);
  CHECK(eligible->geometric_mean == doctest::Approx(2));  // of 4 and 1
  CHECK(eligible->least == 1);
  CHECK(eligible->most == 4);
  CHECK(summarize(r, RunPolicy::Goptimize, RunPolicy::Default, false)->most == 0.8);
  CHECK_FALSE(summarize(r, RunPolicy::GoptimizeNoProfile, RunPolicy::Default, true));
  r.programs[0].runs[1].times_s.clear();  // it failed
  CHECK(summarize(r, RunPolicy::Goptimize, RunPolicy::Default, true)->count == 1);
}

TEST_CASE("what a remote device costs is an overhead, and no complaint") {
  Results r = three();
  r.policies = {RunPolicy::Default, RunPolicy::Remote};
  r.programs[1].runs[static_cast<size_t>(RunPolicy::Default)].times_s = {1, 1, 1, 1, 1, 1};
  r.programs[1].runs[static_cast<size_t>(RunPolicy::Remote)].times_s = {1.25, 1.25, 1.25, 1.25, 1.25, 1.25};
  const std::string table = format_table(r);
  CHECK(table.find("overhead") != std::string::npos);
  CHECK(table.find("+25.0 %") != std::string::npos);
  CHECK(table.find("speedup") == std::string::npos);
  CHECK(table.find("geometric mean") == std::string::npos);
  CHECK(slower_ones(r).empty());
  CHECK(*choose_policies("remote-shm,remote") == std::vector{RunPolicy::Remote, RunPolicy::RemoteShm});
}

TEST_CASE("a failure is named, its row stays, and the means are without it") {
  Results r = three();
  CHECK_FALSE(r.failed());
  r.programs[0].runs[1].times_s.clear();
  r.programs[0].failures.push_back({"goptimize", 139, "it \xff crashed"});
  CHECK(r.failed());
  CHECK(format_failures(r) == "nn failed under goptimize, exit status 139: it \xff crashed\n");
  CHECK(format_table(r).find("nn ") != std::string::npos);
  const auto j = nlohmann::json::parse(format_json(r));
  CHECK(j["programs"][0]["failures"][0]["exit_status"] == 139);
  CHECK(j["programs"][0]["runs"][1]["time_s"].is_null());
  CHECK(j["programs"][0]["runs"][1]["speedup"].is_null());
  CHECK(format_page(r).find("exit status 139") != std::string::npos);
}

TEST_CASE("JSON has times, speedups and means") {
  const auto j = nlohmann::json::parse(format_json(three()));
  CHECK(j["format"] == "gtrace-apps");
  CHECK(j["policies"].size() == 3);
  CHECK(j["programs"][0]["runs"][1]["policy"] == "goptimize");
  CHECK(j["programs"][0]["runs"][1]["speedup"] == 4.0);
  CHECK(j["programs"][0]["runs"][1]["of_hand_pinned"] == 0.5);
  CHECK(j["programs"][0]["runs"][0]["times_s"].size() == 3);
  CHECK(j["summary"][0]["speedup"]["geometric_mean"] == doctest::Approx(2));
  CHECK(j["summary"][0]["eligible"] == true);
}

TEST_CASE("the table and the page hold every program, and text of the machine does no harm") {
  const Results r = three();
  const std::string table = format_table(r), page = format_page(r);
  for (const char* name : {"nn", "sgemm", "bfs"}) {
    CHECK(table.find(name) != std::string::npos);
    CHECK(page.find(std::string(">") + name + "<") != std::string::npos);
  }
  CHECK(table.find("4.00x") != std::string::npos);
  CHECK(page.find("a &lt;device&gt;") != std::string::npos);
  CHECK(page.find("a <device>") == std::string::npos);
}

TEST_CASE("children: output, status, signals, a limit, what cannot be started") {
  const auto folder = TemporaryFolder::make("suite_test");
  REQUIRE(folder.ok());
  const auto sh = [&](const char* script, double limit_s = 60) {
    return run_child({{"/bin/sh", "-c", script}, folder->path(), {{"GT_SET", "one"}, {"PATH", ""}}, limit_s});
  };
  const auto said = sh("echo out; echo err >&2; pwd; echo $GT_SET; exit 3");
  REQUIRE(said.ok());
  CHECK(said->status == 3);
  CHECK(said->err == "err\n");
  CHECK(said->out == "out\n" + folder->path() + "\none\n");
  CHECK(sh("kill -9 $$")->status == 137);
  const auto slow = sh("exec /bin/sleep 100", 0.1);
  CHECK(slow->too_long);
  CHECK(slow->status == 143);
  CHECK_FALSE(run_child({{folder->path() + "/nothing"}, folder->path(), {}}).ok());
}

}  // namespace
}  // namespace gt::bench
