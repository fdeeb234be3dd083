// gmicrobench apps: runs the benchmark programs under several policies and compares their times.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/base/interrupt.h"
#include "microbench/suite/measure.h"
#include "microbench/suite/report.h"
#include "traces/base/command.h"

namespace gt::bench {
namespace {

constexpr int SomethingFailed = 1;  // a program did, not we

namespace fs = std::filesystem;

// Beside this program where it was built, under libexec where it is installed.
Result<std::string> app_folder(const std::string& given) {
  std::error_code ignored;
  if (!given.empty()) return fs::absolute(given, ignored).string();
  const fs::path own = own_folder();
  for (const fs::path& folder : {own / "apps", own.parent_path() / GT_LIBEXEC / "gtrace" / "apps"})
    if (fs::is_directory(folder, ignored)) return folder.string();
  return Status(Kind::Unsupported, "the benchmark programs are not installed: neither apps beside gmicrobench, nor "
                                   GT_LIBEXEC "/gtrace/apps");
}

int list() {
  for (const BenchProgram& p : bench_programs()) fmt::print("{:<11} {:<30} {}\n", p.name, p.shape, p.style);
  return ExitOk;
}

Result<SuiteRequest> make_request(const Options& options) {
  SuiteRequest request;
  Result<std::vector<const BenchProgram*>> programs = choose_programs(options.text("only"));
  if (!programs) return programs.status().at("--only");
  Result<std::vector<RunPolicy>> policies = choose_policies(options.text("policy"));
  if (!policies) return policies.status().at("--policy");
  Result<std::string> folder = app_folder(options.text("programs"));
  if (!folder) return folder.status();
  request.programs = std::move(*programs);
  request.policies = std::move(*policies);
  request.size = options.text("size");
  request.repeat = options.integer("repeat").value_or(1);
  if (request.repeat == 0) return Status(Kind::Invalid, "--repeat must be at least 1");
  request.iterations = options.integer("iterations").value_or(0);
  request.device = options.integer("device");
  request.remote = options.text("remote");
  request.token_file = options.text("token-file");
  std::error_code ignored;
  if (!options.text("platform").empty()) request.platform_file = fs::absolute(options.text("platform"), ignored);
  request.tools_folder = own_folder();
  request.app_folder = *folder;
  return request;
}

Status write_page(const std::string& path, const Results& results) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << format_page(results);
  out.close();
  return out ? Status() : system_error("cannot write " + path, errno);
}

}  // namespace

int apps_command(int argc, char** argv) {
  CommandLine line("gmicrobench apps",
                   "Runs the benchmark programs under several policies, in turn, and compares their times.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  if (options.flag("list")) return list();
  const Result<SuiteRequest> request = make_request(options);
  if (!request) return fail(Program, request.status());
  const Result<Results> results = run_suite(*request);
  if (interrupted()) return end_interrupted();
  if (!results) return fail(Program, results.status());
  fmt::print("{}", options.flag("json") ? format_json(*results) : format_table(*results));
  fmt::print(stderr, "{}", format_failures(*results));
  if (const std::string& page = options.text("html"); !page.empty()) {
    if (const Status s = write_page(page, *results); !s.ok()) return fail(Program, s);
    fmt::print(stderr, "{}: wrote {}\n", Program, page);
  }
  return results->failed() ? SomethingFailed : ExitOk;
}

}  // namespace gt::bench
