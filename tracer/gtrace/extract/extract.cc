// gtrace extract: writes one launch of a trace as a folder that runs without gtrace.
#include <fmt/format.h>

#include <filesystem>

#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/extract/launch_reader.h"
#include "tracer/gtrace/replay/apart.h"
#include "tracer/gtrace/replay/session.h"
#include "traces/base/command_line.h"

namespace gt::tracer {
namespace {

constexpr const char* IncludeFolder = "include";  // in the folder that is written

struct ExtractCommand {
  uint32_t process = 0;
  LaunchChoice choice;
  std::string device, folder;
};

int extract_here(const OpenedTrace& opened, const ExtractCommand& command, LastCall& last) {
  Result<std::unique_ptr<ReplaySession>> session = ReplaySession::open(opened, command.process, command.device);
  if (!session) return fail("gtrace", session.status());
  ReplayWorld& world = (*session)->world();
  world.compares = false;
  world.describes_kernels = true;
  LaunchReader reader(world.cl, world.kernels, world.mapped, opened.trace, command.choice);
  world.hook = &reader;
  RunOptions run;
  run.process = command.process;
  run.give_up = give_up_with(opened.path);
  if (const Result<RunTimes> times = run_replay(world, run, &last); !times)
    return fail("gtrace", times.status().at(opened.path));
  if (!reader.done()) {
    const std::string less =
        fmt::format("kernel {} is launched less than {} times", command.choice.kernel, command.choice.nth);
    return fail("gtrace", Status(Kind::Invalid, world.part.not_reached(command.choice, less)).at(opened.path));
  }
  ExtractedLaunch& launch = reader.launch();
  launch.device = world.devices.by_slot().front().name;
  if (world.headers) launch.options = world.headers->options(launch.options, IncludeFolder);
  if (const Status s = write_standalone(launch, command.folder); !s.ok()) return fail("gtrace", s);
  if (world.headers) {
    const Status s = world.headers->write_into(command.folder + "/" + IncludeFolder);
    if (!s.ok()) return fail("gtrace", s);
  }
  uint64_t bytes = 0;
  for (const ExtractedBuffer& b : launch.buffers) bytes += b.before.size() + b.after.size();
  const std::string zeros =
      world.contents ? "" : "; the trace has no contents, so what the program sent is zeros there";
  return print_text(fmt::format("{}: kernel {}, launch {}, {} of data{}; next: read {}/README.md\n", command.folder,
                                launch.launch.kernel, launch.launch.nth, human_bytes(bytes), zeros, command.folder))
                 .ok()
             ? ExitOk
             : ExitEnvironment;
}

}  // namespace

int extract_command(int argc, char** argv) {
  CommandLine line("gtrace extract",
                   "Writes one launch, with its data, as a C program and a Python script that need no gtrace.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (settings.text("kernel").empty())
    return fail("gtrace", {Kind::Invalid, "extract: say which launch with --kernel NAME or NAME#N"});
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  const Result<LaunchChoice> choice = LaunchChoice::parse(settings.text("kernel"), opened->trace);
  if (!choice) return fail("gtrace", choice.status());
  if (const Status s = CapturedPart(opened->trace).has(*choice); !s.ok()) return fail("gtrace", s.at(opened->path));
  const Result<uint32_t> process = process_to_replay(opened->trace);
  if (!process) return fail("gtrace", process.status().at(opened->path));
  const std::string given = settings.text("output");
  const ExtractCommand command{*process, *choice, settings.text("device"),
                               given.empty() ? fmt::format("{}-{}", choice->kernel, choice->nth) : given};
  // Made here: inside, nothing can be written but what lies in it.
  if (const Status s = make_new_folder(command.folder); !s.ok()) return fail("gtrace", s);
  std::error_code error;
  const std::string folder = std::filesystem::absolute(command.folder, error).string();
  const int status = run_apart(opened->path, [&](LastCall& last) { return extract_here(*opened, command, last); },
                               {!settings.flag("no-sandbox"), {folder}});
  if (status != ExitOk) std::filesystem::remove(folder, error);  // if nothing is in it
  return status;
}

}  // namespace gt::tracer
