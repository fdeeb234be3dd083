// gtrace show: prints the folded trace.
#include "tracer/gtrace/show/show.h"

#include <fmt/format.h>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/base/names.h"
#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/selection_cli.h"
#include "tracer/gtrace/base/units.h"
#include "traces/model/folded/memory_detail.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

void print_rows(const std::vector<ShowRow>& rows, bool memory, const TextStyle& style,
                Output& out) {
  std::vector<Table::Column> columns = {{memory ? "m#" : "#", true, 0},
                                        {"call", false, 24},
                                        {"def", false, 8},
                                        {"use", false, 8},
                                        {"site", false, 10},
                                        {"count", true, 0}};
  if (!memory) {
    columns.push_back({"host", true, 0});
    columns.push_back({"device", true, 0});
  }
  Table table(std::move(columns));
  for (const ShowRow& r : rows) {
    std::vector<std::string> cells = {r.number, r.call, r.def, r.use, r.site, r.count};
    if (!memory) {
      cells.push_back(r.host);
      cells.push_back(r.device);
    }
    r.structure ? table.faint_row(std::move(cells)) : table.row(std::move(cells));
  }
  table.print(out, style);
}

std::string command_line(const model::Process& p) {
  std::string out;
  for (const std::string& a : p.arguments) out += (out.empty() ? "" : " ") + a;
  return out.empty() ? p.executable : out;
}

void print_head(const model::Trace& trace, Output& out) {
  for (const model::Process& p : trace.processes) {
    std::vector<std::string> facts;
    if (p.end_ns > p.start_ns) facts.push_back(human_ns(p.end_ns - p.start_ns));
    if (p.exit_signal != 0) facts.push_back(fmt::format("ended by signal {}", p.exit_signal));
    if (p.exit_code > 0) facts.push_back(fmt::format("exit status {}", p.exit_code));
    out.write(fmt::format("process {}: {}", p.pid, command_line(p)));
    for (const std::string& f : facts) out.write(", " + f);
    out.write("\n");
  }
}

// The thread whose callbacks a stream has; a stream of callbacks begins with one.
std::optional<model::ThreadId> called_back(const model::Trace& trace, model::ThreadId thread) {
  for (const model::Shape& s : trace.shapes) {
    if (s.thread != thread || !store::is_callback_fn(s.fn)) continue;
    for (const model::Arg& a : s.args) {
      if (a.param == model::ParamCallback && a.cls != model::NoIndex) return trace.classes[a.cls].thread;
    }
  }
  return std::nullopt;
}

std::string stream_title(const model::Trace& trace, const model::Stream& stream) {
  const model::Thread& t = trace.threads[stream.thread];
  std::string title = fmt::format("thread {}", stream.thread);
  if (trace.processes.size() > 1)
    title += fmt::format(" of process {}", trace.processes[t.process].pid);
  if (const auto registered = called_back(trace, stream.thread))
    title += fmt::format(", callbacks of thread {}", *registered);
  return title + (stream.memory ? ": memory calls" : ": OpenCL calls");
}

// What is in no stream, if anything.
void print_counted(const model::Trace& trace, Output& out) {
  const std::optional<model::MemoryDetail> detail = model::read_memory_detail(trace);
  if (!detail || detail->calls() == 0) return;
  out.write(fmt::format("\n{} memory calls of blocks below {} were only counted (gtrace stats --by counted has them)\n",
                        detail->calls(), human_bytes(detail->from)));
}

}  // namespace

Status print_show(const model::Trace& trace, const ShowOptions& options, Output& out) {
  const model::Ssa ssa(trace);
  const Result<Selector> selector = Selector::make(trace, ssa.names(), options.selection);
  if (!selector) return selector.status();
  print_head(trace, out);
  bool any = false;
  for (const bool memory : {true, false}) {  // as SSA walks them
    for (size_t s = 0; s < trace.streams.size(); ++s) {
      const model::Stream& stream = trace.streams[s];
      if (stream.memory != memory || !selector->stream(stream)) continue;
      const std::vector<ShowRow> rows = show_rows(trace, ssa, s, options);
      if (rows.empty()) continue;
      any = true;
      if (options.tree) {
        out.write("\n");
        print_tree(stream_title(trace, stream), rows, options.style, out);
      } else {
        out.write("\n" + stream_title(trace, stream) + "\n");
        print_rows(rows, memory, options.style, out);
      }
    }
  }
  const bool filtered = !selector->everything() || !options.site.empty() || options.time_min_ns > 0;
  if (!any && filtered) out.write("\nno call fits\n");
  if (!any && !filtered) out.write("\nno OpenCL calls were recorded (--all shows every memory call)\n");
  if (!filtered && options.selection.memory) print_counted(trace, out);
  return {};
}

int show_command(int argc, char** argv) {
  CommandLine line("gtrace show",
                   "Prints the folded calls: what each uses and defines, where it stands, how often it ran and how "
                   "long it took.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  ShowOptions options;
  Result<Selection> selection = read_selection(settings, opened->trace);
  if (!selection) return fail("gtrace", selection.status());
  options.selection = std::move(*selection);
  options.all_memory = settings.flag("all");
  options.tree = settings.flag("tree");
  options.site = settings.text("site");
  if (!settings.text("time-min").empty()) {
    const Result<uint64_t> time = parse_time(settings.text("time-min"));
    if (!time) return fail("gtrace", time.status());
    options.time_min_ns = *time;
  }
  const bool terminal = output_is_terminal();
  options.style.width = settings.integer("width").value_or(terminal ? terminal_width() : 0);
  options.style.color =
      settings.text("color") == "always" || (settings.text("color") == "auto" && terminal);
  Output out;
  if (const Status s = print_show(opened->trace, options, out); !s) return fail("gtrace", s);
  return out.finish();
}

}  // namespace gt::tracer
