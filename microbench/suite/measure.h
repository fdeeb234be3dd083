// Runs the benchmark programs: each is traced once, then run under all policies in turn, as often as asked.
// Thread safety: none; it takes SIGINT and SIGTERM meanwhile.
#pragma once

#include "microbench/suite/results.h"

namespace gt::bench {

struct SuiteRequest {
  std::vector<const BenchProgram*> programs;
  std::vector<RunPolicy> policies;
  std::string size = "default";  // or small, large
  uint64_t repeat = 3;
  uint64_t iterations = 0;               // 0: the program's own
  std::optional<uint64_t> device;        // its number in goptimize devices; the first otherwise
  std::string remote, token_file;        // the proxy of RunPolicy::Remote; "": one is started for as long as this takes
  std::string platform_file;             // absolute; "" is what goptimize finds
  std::string tools_folder, app_folder;  // where gtrace, ganalyze and goptimize are; where the app_* are
};

// Failures of programs are in the results. Otherwise fails when there is no such device, a tool is missing, no
// temporary folder can be made, or it was interrupted (interrupt.h).
Result<Results> run_suite(const SuiteRequest& request);

}  // namespace gt::bench
