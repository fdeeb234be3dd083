// Writes the manual pages from the table of settings, one page a program: gen_man DIRECTORY.
//
// What a flag does stands in traces/base/settings.def and nowhere else; what a program is for
// stands in Pages below.
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "traces/base/settings.h"

namespace {

struct Page {
  const char* program;
  const char* what;      // NAME line
  const char* synopsis;  // one a line
  const char* text;      // DESCRIPTION
  const char* files;
};

constexpr Page Pages[] = {
    {"gtrace", "record, show and compare what a program does with OpenCL and memory",
     "gtrace run [OPTIONS] [--] APP ARGS...\ngtrace show|expand|stats|digest|view [OPTIONS] "
     "[FILE]\ngtrace ctl [OPTIONS] start|stop|end|snapshot|status\ngtrace top [OPTIONS]\ngtrace recover [OPTIONS] "
     "[SPOOL]",
     "gtrace run starts an unmodified program and records every OpenCL and memory call of it as a "
     "folded call trace in "
     "SSA form, whose size does not grow with the number of iterations. The program's output, exit "
     "status and signals "
     "stay what they are. The other commands read a trace; without FILE they take the newest one "
     "here.",
     "trace.db\nThe trace: an SQLite database. See TRACE_FORMAT in the documentation."},
    {"ganalyze", "explain a trace and write a profile",
     "ganalyze [OPTIONS] [FILE...]\nganalyze diff [OPTIONS] A B\nganalyze --query NAME|SQL [OPTIONS] [FILE]",
     "Tells how much of a program's device time goes into transfers (the dispatch ratio), which "
     "allocations feed them, "
     "what the kernels read and write, and what could be done; writes the profile that goptimize "
     "acts on. Several traces of one program give one profile for all of them, and what differs. "
     "ganalyze diff tells what changed between two traces (exit status 0: the same structure, 1: not).",
     "APP.gprofile\nThe profile, beside the trace; a copy goes to $XDG_DATA_HOME/gtrace/profiles."},
    {"goptimize", "run a program with better placed memory",
     "goptimize run [OPTIONS] [--] APP ARGS...\ngoptimize devices",
     "Runs an unmodified program with the allocations that its profile names placed where "
     "transfers are fast. Where "
     "nothing is to be gained the program runs as it is.",
     "$XDG_CACHE_HOME/gtrace/platform.json\nWhat gmicrobench measured on this machine."},
    {"gmicrobench", "measure what memory policies cost on this machine",
     "gmicrobench platform [OPTIONS]\ngmicrobench device [OPTIONS]\ngmicrobench apps [OPTIONS]",
     "gmicrobench platform measures allocation and transfer costs for each memory policy, size and device, what pins, "
     "maps, copies and launches cost, and fits the curves that goptimize decides by. gmicrobench device measures the "
     "limits of each device: the least latency and the highest throughput of transfers, copies and kernels, and its "
     "performance against arithmetic intensity, with the roofline that predicts it. gmicrobench apps runs the benchmark "
     "programs as they are, under goptimize with and without a profile, and with memory that was pinned by hand, and "
     "compares their times (exit status 1: a program failed). Ctrl-C ends any of them with nothing left behind.",
     "$XDG_CACHE_HOME/gtrace/platform.json\nThe curves, where ganalyze and goptimize look for them. "
     "platform.schema.json, installed in share/gtrace, is its schema."},
    {"gproxy", "serve a node's OpenCL devices to programs on this and other machines",
     "gproxy serve [OPTIONS]\ngproxy status [OPTIONS] [URL]",
     "gproxy serve lets programs that run under goptimize run --remote use the OpenCL devices of this machine, as many "
     "programs at a time as --max-clients says, each in a process of its own. Clients prove that they know the token of "
     "the token file, or, with TLS, have a certificate of the same authority. SIGTERM and Ctrl-C let sessions finish for "
     "up to --drain seconds, a second one ends them at once; after SIGHUP new sessions use the token and the certificates "
     "that are in their files then. gproxy status tells who uses a proxy of this machine and user.",
     "$XDG_CONFIG_HOME/gtrace/token\nThe secret that clients share: copy it to where they run. Sockets for programs of "
     "this machine, and for gproxy status, are in $XDG_RUNTIME_DIR/gtrace."},
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') out += '\\';
    if (c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// ".TP" items of the settings of one command ("gtrace show"), with its heading; nothing when it has
// none.
std::string options_of(std::string_view command) {
  std::string out;
  for (const gt::Setting& s : gt::Settings) {
    if (s.command != command) continue;
    if (out.empty()) out = ".SS " + escaped(command) + "\n";
    out += ".TP\n.B " + escaped(s.flags);
    if (s.type == gt::SettingType::Choice) out += " " + escaped(s.fallback);
    if (s.type == gt::SettingType::Text) out += " TEXT";
    if (s.type == gt::SettingType::Int) out += " N";
    if (s.type == gt::SettingType::Size) out += " BYTES";
    if (s.type == gt::SettingType::Real) out += " X";
    out += "\n" + escaped(s.help) + ".";
    if (*s.variable) out += " Variable: " + escaped(s.variable) + ".";
    out += "\n";
  }
  return out;
}

bool belongs_to(const gt::Setting& s, const Page& page) {
  const std::string command(s.command), program(page.program);
  return command == program || command.rfind(program + " ", 0) == 0;
}

// Each variable once, though several commands of the program read it.
std::string environment_section(const Page& page) {
  std::map<std::string, const gt::Setting*> variables;
  for (const gt::Setting& s : gt::Settings)
    if (*s.variable && belongs_to(s, page)) variables.emplace(s.variable, &s);
  if (variables.empty()) return {};
  std::string out = ".SH ENVIRONMENT\nAn option wins over its variable. Options that are not listed here have none.\n";
  for (const auto& [name, s] : variables)
    out += ".TP\n.B " + escaped(name) + "\n\\-\\-" + escaped(gt::setting_name(s->flags)) + ": " +
           escaped(gt::setting_meaning(s->help)) + ".\n";
  return out;
}

std::string options_section(const Page& page) {
  std::string out = ".SH OPTIONS\n", done;
  for (const gt::Setting& s : gt::Settings) {
    const std::string command(s.command);
    if (!belongs_to(s, page) || done.find("|" + command + "|") != done.npos) continue;
    done += "|" + command + "|";
    out += options_of(command);
  }
  return out;
}

std::string page_text(const Page& page) {
  std::string out = std::string(".TH ") + page.program + " 1 \"\" \"gtrace " GT_VERSION "\"\n";
  out += std::string(".SH NAME\n") + page.program + " \\- " + escaped(page.what) +
         "\n.SH SYNOPSIS\n.nf\n" + escaped(page.synopsis) + "\n.fi\n.SH DESCRIPTION\n" +
         escaped(page.text) + "\n";
  out += options_section(page) + environment_section(page);
  const std::string files = page.files;
  const size_t line = files.find('\n');
  out += ".SH FILES\n.TP\n.I " + escaped(files.substr(0, line)) + "\n" +
         escaped(files.substr(line + 1)) + "\n";
  out +=
      ".SH EXIT STATUS\nThat of the launched program (128 plus the signal that ended it); of ours: "
      "2 usage, 3 bad "
      "input, 4 environment (no driver, no permission, no space), 5 internal error, 6 from gtrace diff "
      "\\-\\-fail\\-above: it takes longer.\n";
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: gen_man DIRECTORY\n", stderr);
    return 2;
  }
  for (const Page& page : Pages) {
    std::ofstream out(std::string(argv[1]) + "/" + page.program + ".1");
    out << page_text(page);
    if (!out.flush()) {
      std::fprintf(stderr, "gen_man: cannot write in %s\n", argv[1]);
      return 4;
    }
  }
  return 0;
}
