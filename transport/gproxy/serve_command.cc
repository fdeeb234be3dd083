// gproxy serve: finds the devices, makes the token, opens the places, says how to use them, and serves.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "traces/sandbox/driver_sandbox.h"
#include "traces/sandbox/own_folder.h"
#include "transport/gproxy/commands.h"
#include "transport/gproxy/log.h"
#include "transport/gproxy/probe.h"
#include "transport/gproxy/serve.h"
#include "transport/gproxy/supervisor.h"

namespace gt::proxy {
namespace {

// Descriptors 0 to 2 must not become sockets, where something would print into them.
void open_standard_fds() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

void make_cache_folders(const std::vector<DeviceFacts>& devices) {
  std::vector<std::string> platforms;
  for (const DeviceFacts& d : devices) platforms.push_back(d.platform);
  gt::make_cache_folders(platforms);
}

// Why workers are in no sandbox; empty: they are.
std::string not_in_a_sandbox(const ServeOptions& options) {
  return options.sandbox ? sandbox_available().text() : "--no-sandbox";
}

void say_what_was_found(const Probed& probed) {
  for (const std::string& note : probed.inventory.notes) log("{}", note);
  for (const std::string& left_out : probed.left_out) log("left out: {}", left_out);
}

Result<std::vector<DeviceFacts>> choose(const Probed& probed, const std::string& wanted) {
  if (probed.inventory.devices.empty()) {
    return Status(Kind::Unsupported, "there is no OpenCL device to serve here (clinfo shows what the loader finds)");
  }
  return select_devices(probed.inventory.devices, wanted);
}

// A URL that a client can use: not the address that means all of ours.
std::string client_url(wire::Url url) {
  char name[256] = "";
  const bool wildcard = url.host == "0.0.0.0" || url.host == "::";
  if (wildcard && ::gethostname(name, sizeof name - 1) == 0) url.host = name;
  return wire::to_text(url);
}

void print_welcome(const std::vector<DeviceFacts>& devices, const Supervisor& supervisor, const std::string& token,
                   bool made, const std::vector<wire::Url>& metrics, const std::string& no_sandbox) {
  std::string text;
  for (const DeviceFacts& d : devices) text += fmt::format("device {}\n", device_line(d));
  text += fmt::format("token  {}{}\n", token, made ? " (made now)" : "");
  if (!no_sandbox.empty()) text += fmt::format("files  clients' programs can read all that you may ({})\n", no_sandbox);
  for (const wire::Url& url : supervisor.urls()) text += fmt::format("at     {}\n", wire::to_text(url));
  for (const wire::Url& url : metrics) text += fmt::format("metrics at http://{}:{}/metrics\n", url.host, url.port);
  const wire::Url& first = supervisor.urls().front();
  const char* const certificates = first.is_encrypted() ? " --cert FILE --key FILE --ca FILE" : "";
  text += fmt::format("use it: goptimize run --remote {}{} -- APP\n", client_url(first), certificates);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // a full disk or a closed pipe does not matter
}

int serve(const ServeOptions& wanted) {
  ::unsetenv("GTRACE_REMOTE");  // a proxy does not serve what other proxies serve
  Result<Probed> probed = probe_devices(wanted.probe_s);
  if (!probed) return fail(Program, probed.status());
  say_what_was_found(*probed);
  Result<std::vector<DeviceFacts>> devices = choose(*probed, wanted.devices);
  if (!devices) return fail(Program, devices.status());
  const Result<bool> made = have_token(wanted.plan.token_file);
  if (!made) return fail(Program, made.status());
  ServeOptions options = wanted;
  for (const DeviceFacts& d : *devices) options.plan.devices.push_back(d.number);
  OwnFolder temporary;
  const std::string no_sandbox = not_in_a_sandbox(wanted);
  if (no_sandbox.empty()) {
    make_cache_folders(*devices);
    // Workers' only one, so that clients see no other program's temporary files.
    Result<OwnFolder> made_now = OwnFolder::make_temporary("gproxy");
    if (!made_now) return fail(Program, made_now.status());
    temporary = std::move(*made_now);
    options.plan.temporary = temporary.path();
    probed->environment.push_back("TMPDIR=" + temporary.path());
  }
  Supervisor supervisor(options, *devices, probed->environment);
  if (Status s = supervisor.open(); !s.ok()) return fail(Program, s);
  print_welcome(*devices, supervisor, wanted.plan.token_file, *made, wanted.metrics, no_sandbox);
  supervisor.run();
  return ExitOk;
}

}  // namespace

int serve_command(int argc, char** argv) {
  open_standard_fds();
  CommandLine line("gproxy serve",
                   "Serves this machine's OpenCL devices to programs that run under goptimize run --remote.");
  const Options& options = line.options();
  line.joins("--listen");  // may be given several times
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<ServeOptions> wanted = serve_options(options);
  return wanted ? serve(*wanted) : fail(Program, wanted.status());
}

}  // namespace gt::proxy
