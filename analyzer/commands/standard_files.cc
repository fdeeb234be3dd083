// Standard output and its friends: style, writing, and what to do where they are closed.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "analyzer/base/output.h"
#include "analyzer/commands/commands.h"
#include "traces/base/standard_files.h"

namespace gt::analyzer {

ReportStyle report_style(const Options& options) {
  ReportStyle style;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  if (const auto width = options.integer("width")) style.width = *width;
  const std::string& color = options.text("color");
  style.color = color == "always" || (color == "auto" && terminal && !std::getenv("NO_COLOR"));
  return style;
}

int print_text(const std::string& text) {
  const int error = write_output(text);
  if (error == 0 || error == EPIPE) return ExitOk;  // a reader that went away has seen enough
  return fail(ProgramName, system_error("standard output", error));
}

void reserve_standard_files() {
  std::signal(SIGPIPE, SIG_IGN);
  gt::reserve_standard_files();
}

}  // namespace gt::analyzer
