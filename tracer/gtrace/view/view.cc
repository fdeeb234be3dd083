// gtrace view: the page of ganalyze in a browser. On a desktop its browser opens a file; elsewhere, and with --serve,
// the page is served on loopback until Ctrl-C. No shell sees a name of anybody's.
#include <pwd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/view/children.h"
#include "tracer/gtrace/view/page_file.h"
#include "tracer/gtrace/view/page_server.h"
#include "traces/base/command_line.h"
#include "traces/base/signals_blocked.h"
#include "traces/base/whole_file.h"

namespace gt::tracer {

namespace {

using view::Ended;
using view::PageServer;

constexpr const char* Program = "gtrace view";
constexpr const char* Opener = "xdg-open";
constexpr uint64_t LastPort = 65535;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool has_desktop() { return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && !is_set("SSH_CONNECTION"); }

// "user@host" of this side of the ssh connection, and its port ("" for 22); nothing when the variable is not sshd's.
struct SshServer {
  std::string host, port;
};
std::optional<SshServer> ssh_server() {
  const char* connection = std::getenv("SSH_CONNECTION");  // client's address and port, server's address and port
  char host[64], port[6];
  if (!connection || std::sscanf(connection, "%*63s %*5s %63[0-9a-fA-F:.] %5[0-9]", host, port) != 2) return {};
  const passwd* user = ::getpwuid(::geteuid());
  return SshServer{(user ? std::string(user->pw_name) + "@" : "") + host, std::strcmp(port, "22") == 0 ? "" : port};
}

void print_ssh_hint(uint16_t port) {
  const auto server = ssh_server();
  if (!server) return;
  fmt::print(stderr, "{}: on your machine, then open the address there: ssh -N -L {}:127.0.0.1:{} {}{}{}\n", Program,
             port, port, server->port.empty() ? "" : "-p ", server->port + (server->port.empty() ? "" : " "),
             server->host);
}

// Reads as the signals that end a program, which are blocked.
Result<Fd> ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ending, s);
  Fd signals(::signalfd(-1, &ending, SFD_CLOEXEC));
  if (!signals.open()) return system_error("signalfd", errno);
  return signals;
}

Status serve(const std::string& page, uint16_t port) {
  const Result<Fd> stop = ending_signals();
  if (!stop) return stop.status();
  Result<PageServer> server = PageServer::open(port);
  if (!server) return server.status();
  GT_TRY(print_text(server->address() + "\n"));
  print_ssh_hint(server->port());
  fmt::print(stderr, "{}: serving the page at this address until Ctrl-C\n", Program);
  GT_TRY(server->serve(page, stop->get()));
  signalfd_siginfo taken;  // it ended the serving, and not the program
  return ::read(stop->get(), &taken, sizeof taken) == sizeof taken ? Status() : system_error("signalfd", errno);
}

struct Wish {
  std::string trace, html;
  bool serve = false;
  uint16_t port = 0;
};

// By the desktop's browser. Where it could not, the exit status of who tried.
int opened(const std::string& path) {
  const Ended tried = view::run_quietly({Opener, view::file_address(path)}, view::Errors::Kept);
  if (tried.status == 0) fmt::print(stderr, "{}: the page is in {}\n", Program, path);
  return tried.status;
}

// The absolute path of what was just written.
Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  if (error) return system_error(path, error.value());
  return whole.string();
}

int show_page(const Wish& wish, const std::string& page, view::PrivateFolder& folder) {
  std::string path = folder.page();
  if (!wish.html.empty()) {
    if (const Status s = write_whole_file(wish.html, page); !s) return fail(Program, s);
    const Result<std::string> whole = absolute(wish.html);
    if (!whole) return fail(Program, whole.status());
    path = *whole;
  }
  if (!wish.serve && has_desktop() && view::in_path(Opener)) {
    const int status = opened(path);
    if (status == 0 && wish.html.empty()) folder.keep();  // the browser may read it later than now
    if (status == 0 || status > 128) return status;
    fmt::print(stderr, "{}: {} could not open it\n", Program, Opener);
  }
  folder.remove();
  if (const Status s = serve(page, wish.port); !s) return fail(Program, s);
  return ExitOk;
}

int show(const Wish& wish) {
  const SignalsBlocked blocked;  // a signal ends what we wait for, and then us, with nothing left behind
  Result<view::PrivateFolder> folder = view::PrivateFolder::make();
  if (!folder) return fail(Program, folder.status());
  const Ended made = view::make_page(wish.trace, folder->page());
  if (made.status == 127)
    return fail(Program, {Kind::Unsupported, "cannot start ganalyze, which should lie beside gtrace"});
  if (made.status != 0) std::fputs(made.said.c_str(), stderr);
  const Result<std::string> page = view::read_page(folder->page());
  if (!page) return made.status != 0 ? made.status : fail(Program, page.status());
  return show_page(wish, *page, *folder);  // a profile that could not be written is no reason to show nothing
}

}  // namespace

int view_command(int argc, char** argv) {
  CommandLine line(Program, "Shows the page of ganalyze in a browser.");
  const Options& options = line.options();
  Wish wish;
  line.argument("FILE", wish.trace, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const uint64_t port = options.integer("port").value_or(0);
  if (port > LastPort)
    return fail(Program, {Kind::Invalid, fmt::format("no port {}: the last one is {}", port, LastPort)});
  if (const auto nothing = line.given_nothing())
    return fail(Program, {Kind::Invalid, *nothing + " needs a file's name"});
  wish.html = options.text("html");
  wish.port = static_cast<uint16_t>(port);
  wish.serve = options.flag("serve") || options.integer("port").has_value();
  return show(wish);
}

}  // namespace gt::tracer
