// goptimize run: decides from profile and platform, then starts the program, with the injected
// library only if the plan promises a gain. Whatever goes wrong on our side, the program runs as it
// would have without us; only what the user named and we cannot read stops us first.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "optimizer-rt/goptimize/commands.h"
#include "optimizer-rt/goptimize/inputs.h"
#include "optimizer-rt/goptimize/report.h"
#include "optimizer-rt/goptimize/session.h"
#include "tracer/interpose/launch.h"
#include "tracer/interpose/program_file.h"
#include "traces/base/settings_cli.h"

namespace gt::opt {
namespace {

constexpr const char* Program = "goptimize";

// What the user asked for.
struct Request {
  std::vector<std::string> command;
  std::string profile, platform, report;
  std::optional<model::Policy> forced;
};

// What goes into the run, once decided.
struct Work {
  RunReport report;
  model::Platform platform;
  Decision decision;
  EncodedPlan plan;
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

int run_injected(const Request& request, Work& work) {
  const auto plain = [&](const Status& s) {
    return run_plain(request, work.report, s.text() + "; running without optimization");
  };
  const Result<std::string> library = interpose::injected_library("opt");
  if (!library) return plain(library.status());
  Result<Session> session = Session::begin(work.plan);
  if (!session) return plain(session.status());

  interpose::LaunchRequest launch;
  launch.command = request.command;
  launch.library = *library;
  launch.variables = {{PlanVariable, session->plan_path()},
                      {CountersVariable, session->counters_path()}};
  const Result<interpose::LaunchPlan> plan = interpose::plan_launch(launch);
  if (!plan && plan.status().kind() == Kind::Invalid) return fail(Program, plan.status());
  if (!plan) return plain(plan.status());
  for (const std::string& obstacle : plan->obstacles) say(obstacle);
  Result<interpose::Launched> program = interpose::Launched::start(*plan);
  if (!program) return fail(Program, program.status());
  program->wait(std::chrono::milliseconds(-1));

  add_counters(work.report, session->counters(), work.plan.site_of_plan, work.platform,
               work.decision);
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

  Result<std::optional<FoundProfile>> found =
      find_profile(request.profile, request.command[0], file->binary);
  if (!found) return fail(Program, found.status());
  if (!*found)
    return run_plain(
        request, work.report,
        "no profile of this program: make one with gtrace run and ganalyze; running it as it is");
  const FoundProfile& profile = **found;
  work.report.profile = profile.path;
  if (profile.profile.sites.empty())
    return run_plain(request, work.report,
                     "nothing to gain here: the profile names no allocation that feeds transfers");
  if (!profile.profile.eligible && !request.forced)
    return run_plain(request, work.report,
                     fmt::format("nothing to gain here: transfers take {:.3f} of the kernels' "
                                 "time, too little to matter",
                                 profile.profile.dispatch_ratio));

  if (request.forced) {
    work.platform = cached_platform(request.platform);
  } else {
    Result<model::Platform> platform = find_platform(request.platform);
    if (!platform && !request.platform.empty()) return fail(Program, platform.status());
    if (!platform)
      return run_plain(request, work.report,
                       platform.status().text() + "; running the program as it is");
    work.platform = std::move(*platform);
  }

  work.decision = decide(work.platform, profile.profile, request.forced);
  work.report.sites = planned_sites(profile.profile, work.decision);
  work.plan =
      encode_plan(work.platform, profile.profile, work.decision, request.forced.has_value());
  if (!work.decision.worth_it || work.plan.site_of_plan.empty())
    return run_plain(
        request, work.report,
        fmt::format(
            "nothing to gain here: on this platform other memory would save {:.1f} ms at most",
            work.decision.saved_s * 1e3));
  work.report.decision =
      fmt::format("{} of {} allocation sites optimized by {}", work.plan.site_of_plan.size(),
                  profile.profile.sites.size(), profile.path);
  return run_injected(request, work);
}

}  // namespace

int run_command(int argc, char** argv) {
  CLI::App app(
      "Runs a program with its profile: the allocations that feed transfers get the memory that is "
      "fastest.",
      "goptimize run");
  const Options options(app, "goptimize run");
  app.prefix_command();
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  Request request;
  request.command = app.remaining();
  if (!request.command.empty() && request.command[0] == "--")
    request.command.erase(request.command.begin());
  if (request.command.empty())
    return fail(Program,
                Status(Kind::Invalid, "no program given: goptimize run [OPTIONS] -- APP ARGS..."));
  request.profile = options.text("profile");
  request.platform = options.text("platform");
  request.report = options.text("report");
  request.forced = model::parse_policy(options.text("force-policy"));
  return run(request);
}

}  // namespace gt::opt
