// One program after the other, all policies in turn (A B C A B C ...): a disturbance of the machine hits all alike.
#include "microbench/suite/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "microbench/base/devices.h"
#include "microbench/base/interrupt.h"
#include "microbench/remote/own_proxy.h"
#include "microbench/base/child.h"
#include "traces/base/progress.h"

namespace gt::bench {
namespace {

using Json = nlohmann::json;

// As the programs number them: platforms, and devices within a platform.
struct DeviceNumber {
  size_t platform = 0, device = 0;
  std::string text;
};

Result<DeviceNumber> find_device(std::optional<uint64_t> wanted) {
  const Result<std::vector<Device>> devices = list_devices();
  if (!devices) return devices.status();
  const size_t index = wanted.value_or(0);
  if (index >= devices->size())
    return Status(Kind::Invalid, fmt::format("there is no device {}: {} were found", index, devices->size()));
  const Device& chosen = (*devices)[index];
  cl_platform_id platforms[64];
  cl_uint count = 0;
  if (clGetPlatformIDs(std::size(platforms), platforms, &count) != CL_SUCCESS) count = 0;
  DeviceNumber number{0, 0, fmt::format("{} ({}, driver {})", chosen.name, chosen.platform, chosen.driver)};
  while (number.platform + 1 < count && platforms[number.platform] != chosen.platform_id) ++number.platform;
  for (size_t i = 0; i < index; ++i) number.device += (*devices)[i].platform_id == chosen.platform_id;
  return number;
}

// What a program said last: its verdict or complaint. Lines of goptimize do not count.
std::string last_words(const ChildOutcome& outcome) {
  std::string words;
  for (const std::string* text : {&outcome.out, &outcome.err}) {
    std::istringstream in(*text);
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line.rfind("time_s=", 0) != 0 && line.rfind("goptimize: ", 0) != 0) words = line;
  }
  return words.substr(0, 200);
}

std::optional<double> printed_time_s(const std::string& err) {
  const size_t at = err.rfind("time_s=");
  if (at == std::string::npos) return {};
  const double t = std::strtod(err.c_str() + at + 7, nullptr);
  if (!(t > 0)) return {};
  return t;
}

std::map<std::string, uint64_t> counts(const Json& object) {
  std::map<std::string, uint64_t> out;
  for (const auto& [key, value] : object.items())
    if (value.is_number_unsigned()) out[key] = value.get<uint64_t>();
  return out;
}

std::optional<OptimizerFacts> read_report(const std::string& path) {
  std::ifstream in(path);
  const Json j = Json::parse(in, nullptr, false);
  if (!j.is_object()) return {};
  OptimizerFacts facts;
  const auto number = [&](const char* group, const char* key) -> uint64_t {
    const Json value = j.value(group, Json::object()).value(key, Json());
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  };
  facts.decision = j.value("decision", "");
  for (const Json& site : j.value("sites", Json::array())) ++facts.sites[site.value("policy", "?")];
  facts.staged_transfers = number("staged", "transfers");
  facts.staged_bytes = number("staged", "bytes");
  facts.staging_suspensions = number("staged", "suspensions");
  facts.left_to_driver = number("staged", "left");
  facts.pinned_ranges = number("pinned", "ranges");
  facts.pinned_bytes = number("pinned", "bytes");
  facts.remote_devices = number("remote", "devices");
  facts.fallbacks = counts(j.value("fallbacks", Json::object()));
  return facts;
}

const DeviceNumber FirstDevice;

class Suite {
 public:
  // `proxy`: ours; nullptr: no policy needs one.
  Suite(const SuiteRequest& request, DeviceNumber device, std::string folder, const OwnProxy* proxy)
      : request_(request),
        device_(std::move(device)),
        proxy_(proxy),
        folder_(std::move(folder)),
        progress_("running", request.programs.size() * (1 + request.repeat * request.policies.size()),
                  std::chrono::milliseconds(0)) {}

  Result<ProgramResult> run(const BenchProgram& program) {
    ProgramResult result;
    result.program = &program;
    output_.reset();
    GT_TRY(trace(result));
    for (uint64_t round = 0; round < request_.repeat; ++round)
      for (const RunPolicy policy : request_.policies) GT_TRY(run_once(result, policy));
    std::filesystem::remove(trace_path(program));
    return result;
  }

 private:
  std::string trace_path(const BenchProgram& p) const { return fmt::format("{}/{}.db", folder_, p.name); }
  std::string profile_path(const BenchProgram& p) const { return fmt::format("{}/{}.gprofile", folder_, p.name); }
  std::string report_path() const { return folder_ + "/report.json"; }
  std::string tool(const char* name) const { return request_.tools_folder + "/" + name; }

  std::vector<std::string> command(const BenchProgram& p, bool hand_pinned, bool first_device = false) const {
    std::vector<std::string> out{fmt::format("{}/app_{}", request_.app_folder, p.name)};
    if (request_.size != "default") out.push_back("--" + request_.size);
    if (request_.iterations != 0) out.insert(out.end(), {"--iterations", std::to_string(request_.iterations)});
    const DeviceNumber& d = first_device ? FirstDevice : device_;
    out.insert(out.end(), {"--platform", std::to_string(d.platform), "--device", std::to_string(d.device)});
    if (hand_pinned) out.push_back("--hand-pinned");
    return out;
  }

  std::vector<std::string> optimized(const BenchProgram& p, bool with_profile) const {
    std::vector<std::string> out{tool("goptimize"), "run", "--report", report_path()};
    if (with_profile) out.insert(out.end(), {"--profile", profile_path(p)});
    if (!request_.platform_file.empty()) out.insert(out.end(), {"--platform", request_.platform_file});
    out.push_back("--");
    for (std::string& word : command(p, false)) out.push_back(std::move(word));
    return out;
  }

  // The program's list has the remote devices alone.
  std::vector<std::string> remotely(const BenchProgram& p, const std::string& url, const std::string& token) const {
    std::vector<std::string> out{tool("goptimize"), "run",    "--report", report_path(),
                                 "--remote",        url,      "--only",   "remote"};
    if (!token.empty()) out.insert(out.end(), {"--token-file", token});
    out.push_back("--");
    for (std::string& word : command(p, false, true)) out.push_back(std::move(word));
    return out;
  }

  std::vector<std::string> command_of(const BenchProgram& p, RunPolicy policy) const {
    switch (policy) {
      case RunPolicy::Default: return command(p, false);
      case RunPolicy::HandPinned: return command(p, true);
      case RunPolicy::Goptimize: return optimized(p, true);
      case RunPolicy::GoptimizeNoProfile: return optimized(p, false);
      case RunPolicy::Remote:
        return request_.remote.empty() ? remotely(p, proxy_->tcp(), proxy_->token_file())
                                       : remotely(p, request_.remote, request_.token_file);
      case RunPolicy::RemoteShm: return remotely(p, proxy_->shm(), proxy_->token_file());
    }
    return {};
  }

  // Profiles are kept in the data folder and found there: neither the user's nor ours may be.
  Result<ChildOutcome> start(std::vector<std::string> command, const std::string& what,
                             const char* data_folder = "/empty") {
    progress_.show(what, done_);
    if (interrupted()) return Status(Kind::Busy, "interrupted");
    ChildRequest child{std::move(command), folder_, {}};
    child.variables = {{"XDG_DATA_HOME", folder_ + data_folder}, {"GTRACE_REMOTE", ""}, {"GTRACE_TOKEN_FILE", ""}};
    Result<ChildOutcome> outcome = run_child(child);
    if (interrupted()) return Status(Kind::Busy, "interrupted");
    return outcome;
  }

  // The dispatch ratio and the profile.
  Status trace(ProgramResult& r) {
    const BenchProgram& p = *r.program;
    std::vector<std::string> traced{tool("gtrace"), "run", "-o", trace_path(p), "--"};
    for (std::string& word : command(p, false)) traced.push_back(std::move(word));
    const auto recorded = start(std::move(traced), fmt::format("{}: traced", p.name));
    if (!recorded) return recorded.status();
    ++done_;
    if (recorded->status != 0) return failed(r, "gtrace", *recorded);
    output_ = recorded->out;
    const auto analyzed = start({tool("ganalyze"), trace_path(p), "-o", profile_path(p), "--json"},
                                fmt::format("{}: analyzed", p.name), "/kept");
    if (!analyzed) return analyzed.status();
    const Json j = Json::parse(analyzed->out, nullptr, false);
    if (analyzed->status != 0 || !j.is_object() || !j.contains("dispatch_ratio"))
      return failed(r, "ganalyze", *analyzed);
    if (j["dispatch_ratio"].is_number()) r.dispatch_ratio = j["dispatch_ratio"].get<double>();
    r.eligible = j.value("eligible", false);
    return {};
  }

  Status run_once(ProgramResult& r, RunPolicy policy) {
    const BenchProgram& p = *r.program;
    const std::string where(policy_name(policy));
    const auto same_place = [&](const Failure& f) { return f.where == where; };
    ++done_;
    if (std::ranges::any_of(r.failures, same_place)) return {};  // once is enough
    PolicyRuns& runs = r.runs[static_cast<size_t>(policy)];
    std::error_code ignored;
    std::filesystem::remove(report_path(), ignored);
    const auto outcome = start(command_of(p, policy), fmt::format("{}: {}", p.name, where));
    if (!outcome) return outcome.status();
    const auto time = printed_time_s(outcome->err);
    if (outcome->status != 0 || !time) return drop(r, runs, where, *outcome);
    if (!output_) output_ = outcome->out;
    if (outcome->out != *output_) {
      runs = {};
      r.failures.push_back({where, 0, "its output differs from the other runs': " + last_words(*outcome)});
      return {};
    }
    auto facts = read_report(report_path());
    if (is_remote(policy) && (!facts || facts->remote_devices == 0)) {  // a program gets local ones then
      runs = {};
      r.failures.push_back({where, 0, "the proxy's devices were not there"});
      return {};
    }
    runs.times_s.push_back(*time);
    if (facts) runs.optimizer = std::move(facts);
    return {};
  }

  Status drop(ProgramResult& r, PolicyRuns& runs, const std::string& where, const ChildOutcome& outcome) {
    runs = {};
    return failed(r, where, outcome);
  }

  static Status failed(ProgramResult& r, const std::string& where, const ChildOutcome& outcome) {
    r.failures.push_back({where, outcome.status, outcome.too_long ? "it ran for too long" : last_words(outcome)});
    return {};
  }

  const SuiteRequest& request_;
  DeviceNumber device_;
  const OwnProxy* const proxy_;
  std::string folder_;
  Progress progress_;
  uint64_t done_ = 0;
  std::optional<std::string> output_;  // what the program printed in its first run
};

Status all_there(const SuiteRequest& request) {
  for (const char* name : {"gtrace", "ganalyze", "goptimize"})
    if (::access((request.tools_folder + "/" + name).c_str(), X_OK) != 0)
      return {Kind::Unsupported, fmt::format("{} is not in {}", name, request.tools_folder)};
  return {};
}

// A proxy of ours, where a policy needs it.
Result<std::optional<OwnProxy>> proxy_for(const SuiteRequest& request) {
  const auto needs = [&](RunPolicy p) {
    return p == RunPolicy::RemoteShm || (p == RunPolicy::Remote && request.remote.empty());
  };
  if (std::ranges::none_of(request.policies, needs)) return std::optional<OwnProxy>();
  Result<OwnProxy> own = OwnProxy::start(request.tools_folder, request.device.value_or(0));
  if (!own) return own.status();
  return std::optional<OwnProxy>(std::move(*own));
}

}  // namespace

Result<Results> run_suite(const SuiteRequest& request) {
  GT_TRY(all_there(request));
  Result<DeviceNumber> device = find_device(request.device);
  if (!device) return device.status();
  Result<TemporaryFolder> folder = TemporaryFolder::make("gmicrobench");
  if (!folder) return folder.status();
  const InterruptGuard guard;
  Result<std::optional<OwnProxy>> proxy = proxy_for(request);
  if (!proxy) return proxy.status();
  Results results{device->text, request.size, request.repeat, request.policies, {}};
  Suite suite(request, *device, folder->path(), *proxy ? &**proxy : nullptr);
  for (const BenchProgram* program : request.programs) {
    Result<ProgramResult> result = suite.run(*program);
    if (!result) return result.status();
    results.programs.push_back(std::move(*result));
  }
  return results;
}

}  // namespace gt::bench
