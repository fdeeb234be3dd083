// goptimize run: decides from profile and platform, then starts the program, with the injected
// library only if the plan promises a gain, or may do so once a device that the program opens is measured. Whatever
// goes wrong on our side, the program runs as it would have without us; only what the user named and we cannot read
// stops us first.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "optimizer-rt/goptimize/answering.h"
#include "optimizer-rt/goptimize/commands.h"
#include "optimizer-rt/goptimize/failures.h"
#include "optimizer-rt/goptimize/inputs.h"
#include "optimizer-rt/goptimize/libc_plan.h"
#include "optimizer-rt/goptimize/measuring.h"
#include "optimizer-rt/goptimize/remote.h"
#include "optimizer-rt/goptimize/report.h"
#include "optimizer-rt/goptimize/session.h"
#include "optimizer-rt/goptimize/system_pages.h"
#include "optimizer-rt/goptimize/touch_costs.h"
#include "tracer/interpose/launch.h"
#include "tracer/interpose/other_interposers.h"
#include "tracer/interpose/program_file.h"
#include "traces/base/command_line.h"

namespace gt::opt {
namespace {

constexpr const char* Program = "goptimize";
constexpr double LargeTransfer = 16 << 20;  // bytes: where staging pays if it ever does

// What the user asked for.
struct Request {
  std::vector<std::string> command;
  std::string profile, platform, report;
  std::optional<model::Policy> forced;
  Staging staging = Staging::Auto;
  Reuse reuse = Reuse::Auto;
  bool huge_pages = true;  // where the system gives them to who asks
  Variables remote;  // none: only local devices
  std::string remote_urls;
  bool remote_first = false;
  bool sees_local = true;  // the program sees devices of this machine
  std::chrono::seconds measure_limit{0};
};

// What goes into the run, once decided; decided again when a device was measured while the program runs.
struct Work {
  std::string binary;  // the ELF file that will run
  const model::Profile* profile = nullptr;  // null: there is none
  RunReport report;
  FoundPlatform costs;
  Decision decision;
  EncodedPlan plan;
  bool stages = false;    // other memory is, where it pays
  bool reuses = false;    // blocks of libc's may be pinned
  bool pages = false;     // large blocks get huge ones
  bool too_little = false;  // transfers are, by the profile: its sites are left, the rest is as without it
  double promised_s = 0;    // by other memory, before it was found to be worth it or not

  bool gains() const { return !plan.site_of_plan.empty() || stages || reuses || pages; }
};

void say(const std::string& text) { fmt::print(stderr, "{}: {}\n", Program, text); }

void keep_report(const Request& request, const RunReport& report) {
  if (request.report.empty()) return;
  if (const Status s = write_report(report, request.report); s.ok())
    say("report in " + request.report);
  else
    say(s.text());
}

// Becomes the program: no process of ours stays, nothing is injected, nothing can be slower.
int run_plain(const Request& request, RunReport report, const std::string& why) {
  report.decision = why;
  say(why);
  keep_report(request, report);
  std::vector<char*> argv;
  for (const std::string& a : request.command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(argv[0], argv.data());
  return fail(Program, system_error("cannot start " + request.command[0], errno));
}

// The profile's own conclusions are then of that program.
std::string foreign(const RunReport& report) {
  return report.made_for.empty() ? "" : "; the profile was made for another program or build: " + report.made_for;
}

std::string too_little(const Work& work) {
  return fmt::format("by {} transfers take {:.3f} of the kernels' time: too little{}", work.report.profile,
                     work.profile->dispatch_ratio, foreign(work.report));
}

std::string nothing_measured(const model::Platform& platform) {
  if (platform.failed.empty()) return "nothing to gain here: the program opened no device that could be measured";
  return failure_text(platform) + next_try_text(platform);
}

std::string nothing_to_gain(const Work& work) {
  const std::string nothing = "nothing to gain here: ";
  const std::string unmeasured = work.report.unmeasured.empty() ? "" : "; " + work.report.unmeasured;
  const std::string other = foreign(work.report);
  if (work.too_little) return nothing + too_little(work);
  if (work.costs.platform.devices.empty()) return nothing_measured(work.costs.platform);
  if (!work.profile)
    return nothing + "no profile of this program (gtrace run, ganalyze), and no device of this machine moves memory " +
           "faster than its driver does by itself" + unmeasured;
  if (work.profile->sites.empty()) return nothing + "the profile names no allocation that feeds transfers" + other;
  return nothing + fmt::format("on this platform other memory would save {:.1f} ms at most{}{}", work.promised_s * 1e3,
                               other, unmeasured);
}

// Memory of no site is to be treated specially, gain or not.
bool demands_all(const Request& request) {
  return request.staging == Staging::Always || request.reuse == Reuse::Always;
}

// Is a proxy of this node asked for? Its workers can map the pools.
bool has_shared_memory(const std::string& urls) {
  return ("," + urls).find(",shm:") != std::string::npos;
}

// Both have curves of either way.
bool is_faster(const auto& staged, const auto& standard) {
  return staged.h2d(LargeTransfer) < ClearlyLess * standard.h2d(LargeTransfer) ||
         staged.d2h(LargeTransfer) < ClearlyLess * standard.d2h(LargeTransfer);
}

// Is there a device to which pageable memory goes faster through pinned chunks?
bool can_stage(const Request& request, const model::Platform& platform) {
  if (request.staging != Staging::Auto) return request.staging == Staging::Always;
  return std::ranges::any_of(platform.devices, [](const model::DeviceCosts& d) {
    const model::PolicyCosts* standard = d.costs(model::Policy::Standard);
    return (d.staged && standard && is_faster(*d.staged, *standard)) ||
           (d.svm && d.svm->staged && is_faster(*d.svm->staged, d.svm->standard));
  });
}

// The file that was named, or the cached one, or none yet. What somebody demands needs no costs; nor do devices that
// the program does not see, nor programs for which nothing may be done.
Result<FoundPlatform> platform_for(const Request& request, const model::Profile* profile, bool too_little) {
  const bool decided = request.forced || demands_all(request) || !request.sees_local;
  if (decided && request.platform.empty()) return cached_platform();
  const bool may_gain = request.staging != Staging::Never || (profile && !profile->sites.empty());
  return find_platform(request.platform, may_gain && !too_little && request.measure_limit.count() > 0);
}

std::string decision_text(const Work& work) {
  const model::Profile* const profile = work.profile;
  std::string others = work.stages   ? "transfers of other memory are staged where it pays"
                       : work.reuses ? "other memory that is transferred again is pinned"
                                     : "";
  if (work.pages) others += others.empty() ? "fresh large blocks get huge pages" : "; fresh large blocks, huge pages";
  if (work.too_little && !others.empty()) return "nothing to gain at its sites: " + too_little(work) + "; " + others;
  if (work.plan.site_of_plan.empty()) {
    const std::string start = profile ? "nothing to gain with local devices" : "no profile of this program";
    return others.empty() ? start : profile ? others : start + ": " + others;
  }
  const std::string sites = fmt::format("{} of {} allocation sites optimized by {}", work.plan.site_of_plan.size(),
                                        profile->sites.size(), work.report.profile);
  return others.empty() ? sites : sites + "; " + others;
}

void choose_sites(const Request& request, const model::Profile& sites, bool shared, Work& work) {
  work.decision = decide(work.costs.platform, sites, request.forced);
  work.promised_s = work.decision.saved_s;
  if (!work.decision.worth_it || work.too_little) work.decision = leave_all(work.decision);
  if (shared) serve_executors(work.decision, sites);
  if (!work.too_little) work.report.sites = planned_sites(sites, work.decision);
}

// By the costs that are known now. Sites that were chosen stay as they are: the program has pools for them.
void choose(const Request& request, Work& work) {
  if (request.staging == Staging::Auto) leave_shared_memory_alone(work.costs.platform);
  work.report.measured = !work.costs.platform.devices.empty();
  work.report.unmeasured = failure_text(work.costs.platform);
  const model::Profile none;
  const model::Profile& sites = work.profile ? *work.profile : none;
  const bool shared = has_shared_memory(request.remote_urls), first = work.plan.site_of_plan.empty();
  if (first) choose_sites(request, sites, shared, work);
  work.stages = can_stage(request, work.costs.platform);
  const Reuse reuse = work.stages || request.reuse != Reuse::Auto ? request.reuse : Reuse::Never;
  work.reuses = reuse != Reuse::Never;
  work.plan = encode_plan(work.costs.platform, sites, work.decision, request.forced.has_value(),
                          work.stages ? request.staging : Staging::Never, reuse, shared, work.costs.asks,
                          work.pages);
  if (first) leave_out(work.report, work.plan.site_of_plan);
}

// The program waits for what the device costs.
void learn(const Request& request, const Session& session, Measuring& measuring, const model::DeviceName& device,
           const Measuring::GoesOn& goes_on, Work& work) {
  if (const Status s = measuring.measure(device, goes_on); !s.ok()) say(s.text());
  add_devices(work.costs.platform, work.costs.path);
  work.costs.asks = may_be_incomplete(work.costs.platform, model::seconds_now());
  choose(request, work);
  if (const Status s = session.replace_plan(work.plan); !s.ok()) say(s.text());
}

// Until the program has ended.
void answer(const Request& request, const Session& session, interpose::Launched& program, Work& work) {
  constexpr std::chrono::milliseconds Look{20};
  Measuring measuring(work.costs.path, request.measure_limit);
  Requests& requests = *session.requests();
  const auto goes_on = [&] {
    requests.beats.fetch_add(1, std::memory_order_relaxed);
    return !program.wait(std::chrono::milliseconds(0));
  };
  while (!program.wait(Look))
    answer_requests(requests, [&](const auto& device) { learn(request, session, measuring, device, goes_on, work); });
}

int run_injected(const Request& request, Work& work) {
  const auto plain = [&](const Status& s) {
    return run_plain(request, work.report, s.text() + "; running without optimization");
  };
  const Result<std::string> library = interpose::injected_library("opt");
  if (!library) return plain(library.status());
  const bool asks = work.costs.asks;
  Result<Session> session = Session::begin(work.plan, asks ? request.measure_limit : std::chrono::seconds(0));
  if (!session) return plain(session.status());

  interpose::LaunchRequest launch;
  launch.command = request.command;
  launch.library = *library;
  launch.variables = {{PlanVariable, session->plan_path()},
                      {CountersVariable, session->counters_path()}};
  if (asks) launch.variables.emplace_back(RequestsVariable, session->requests_path());
  launch.variables.insert(launch.variables.end(), request.remote.begin(), request.remote.end());
  if (!work.plan.site_of_plan.empty() || work.reuses || asks)
    launch.variables.emplace_back(LibcEntriesVariable, libc_entries(work.binary));
  const Result<interpose::LaunchPlan> plan = interpose::plan_launch(launch);
  if (!plan && plan.status().kind() == Kind::Invalid) return fail(Program, plan.status());
  if (!plan) return plain(plan.status());
  for (const std::string& obstacle : plan->obstacles) say(obstacle);
  for (const std::string& other : interpose::other_interposers(plan->binary)) say("beside us in the program: " + other);
  Result<interpose::Launched> program = interpose::Launched::start(*plan);
  if (!program) return fail(Program, program.status());
  if (asks) answer(request, *session, *program, work);
  program->wait(std::chrono::milliseconds(-1));

  work.report.decision = work.gains() || !request.remote.empty() ? decision_text(work) : nothing_to_gain(work);
  work.report.only_asked = !work.gains() && request.remote.empty();
  add_counters(work.report, session->counters(), work.plan.site_of_plan);
  if (work.report.huge_filled + work.report.kept_bytes > 0)
    work.report.pages_saved_s = touching_saved_s(measure_touch(), work.report.huge_filled, work.report.kept_bytes);
  work.report.injected = get(session->counters().processes) > 0;
  if (!work.report.injected)
    work.report.decision = "the program ran without optimization: nothing could be injected";
  print_report(work.report);
  keep_report(request, work.report);
  return program->exit_status();
}

// The whole decision. Gives the exit status of the program that finally ran.
int run(const Request& request) {
  Result<interpose::ProgramFile> file = interpose::find_program(request.command[0]);
  if (!file) return fail(Program, file.status());
  Work work;
  work.report.program = file->path;
  work.report.remote_urls = request.remote_urls;
  work.report.remote_first = request.remote_first;
  work.binary = file->binary;

  Result<std::optional<FoundProfile>> found = find_profile(request.profile, request.command[0], file->binary);
  if (!found) return fail(Program, found.status());
  const model::Profile* const profile = *found ? &(*found)->profile : nullptr;
  work.profile = profile;
  if (profile) work.report.profile = (*found)->path;
  if (profile && made_for_another(*profile, work.binary)) work.report.made_for = profile->program;
  work.too_little =
      profile && !profile->eligible && !request.forced && !demands_all(request) && request.remote.empty();
  Result<FoundPlatform> costs = platform_for(request, profile, work.too_little);
  if (!costs && !request.platform.empty()) return fail(Program, costs.status());
  work.pages = request.huge_pages && system_pages() == SystemPages::OnRequest;
  if (!costs && request.remote.empty() && !work.pages)
    return run_plain(request, work.report, work.too_little ? nothing_to_gain(work)
                                                           : costs.status().text() + "; running the program as it is");
  if (!costs && request.remote.empty()) say(costs.status().text());
  if (costs) work.costs = std::move(*costs);
  if (work.too_little) work.costs.asks = false;
  choose(request, work);
  if (!work.gains() && !work.costs.asks && request.remote.empty())
    return run_plain(request, work.report, nothing_to_gain(work));
  return run_injected(request, work);
}

}  // namespace

int run_command(int argc, char** argv) {
  CommandLine line("goptimize run",
                   "Runs a program so that its transfers are faster: the allocations that its profile names get the "
                   "memory that is fastest; what comes from other memory is staged.");
  const Options& options = line.options();
  line.takes_command();
  if (const auto status = line.parse(argc, argv)) return *status;
  Request request;
  request.command = line.command();
  if (request.command.empty())
    return fail(Program,
                Status(Kind::Invalid, "no program given: goptimize run [OPTIONS] -- APP ARGS..."));
  request.profile = options.text("profile");
  request.platform = options.text("platform");
  request.report = options.text("report");
  request.forced = model::parse_policy(options.text("force-policy"));
  const std::string stage = options.text("stage");
  request.staging = stage == "never" ? Staging::Never : stage == "always" ? Staging::Always : Staging::Auto;
  const std::string reuse = options.text("reuse");
  request.huge_pages = options.text("pages") != "never";
  request.reuse = reuse == "never" ? Reuse::Never : reuse == "always" ? Reuse::Always : Reuse::Auto;
  Result<Variables> remote = run_variables(options);
  if (!remote) return fail(Program, remote.status());
  request.remote = std::move(*remote);
  request.remote_urls = options.text("remote");
  request.remote_first = options.text("order") == "remote-first";
  request.sees_local = request.remote_urls.empty() || options.text("only") != "remote";
  request.measure_limit = std::chrono::seconds(options.integer("measure-seconds").value_or(0));
  return run(request);
}

}  // namespace gt::opt
