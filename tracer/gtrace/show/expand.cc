// gtrace expand: unfolds a trace.
#include "tracer/gtrace/show/expand.h"

#include <charconv>
#include <map>
#include <thread>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/show/line_queue.h"
#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/selection_cli.h"
#include "tracer/gtrace/base/summary_text.h"
#include "tracer/gtrace/base/walk.h"
#include "traces/base/progress.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {
namespace {

// Writes the lines of one stream's calls.
class LinePrinter {
 public:
  LinePrinter(const model::Trace& trace, const model::ObjectNames& names, CallFormat format,
              model::ThreadId thread, bool memory)
      : trace_(trace), calls_(trace, names, format), json_(format == CallFormat::Json) {
    const std::string t = std::to_string(thread);
    prefix_ =
        json_ ? "{\"thread\":" + t + ",\"stream\":\"" + (memory ? "memory" : "opencl") + "\",\"n\":"
              : "T" + t + (memory ? " m" : " #");
  }

  void append(std::string& out, const WalkedEvent& event) {
    char number[24];
    out += prefix_;
    out.append(number, std::to_chars(number, number + sizeof number, event.number).ptr);
    out += json_ ? "," : " ";
    calls_.append(out, event.shape, event.values);
    out += json_ ? "}\n" : "\n";
  }

  // A line in the place of calls that --max-size left out, of which `number` is the first.
  void append_summary(std::string& out, const model::Node& node, uint64_t number) {
    out += summary_line(trace_, node, json_ ? CallFormat::Json : CallFormat::Text, prefix_, number);
  }

 private:
  const model::Trace& trace_;
  CallText calls_;
  bool json_;
  std::string prefix_;
};

// Which value of each shape tells how many memory calls came before; -1: none does.
std::vector<int> allocs_values(const model::Trace& trace) {
  std::vector<int> out;
  for (const model::Shape& s : trace.shapes) {
    int value = 0, found = -1;
    for (const model::Arg& a : s.args) {
      if (a.param == model::ParamAllocs && a.form == model::ArgForm::Int) found = value;
      value += value_count(a.form);
    }
    out.push_back(found);
  }
  return out;
}

struct ThreadStreams {
  const model::Stream* opencl = nullptr;
  const model::Stream* memory = nullptr;
};

class Expander {
 public:
  Expander(const model::Trace& trace, const model::ObjectNames& names, const Selector& selector,
           const ExpandOptions& options, Output& out)
      : trace_(trace),
        names_(names),
        selector_(selector),
        options_(options),
        out_(out),
        allocs_(allocs_values(trace)) {}

  Status print() {
    uint64_t calls = 0;
    for (const model::Stream& s : trace_.streams) {
      if (!s.memory && selector_.stream(s)) calls += model::event_count(s.nodes);
    }
    std::optional<Progress> progress;  // where text scrolls by, it is the progress
    if (!output_is_terminal()) progress.emplace("expanding", calls);
    progress_ = progress ? &*progress : nullptr;
    std::map<model::ThreadId, ThreadStreams> threads;
    for (const model::Stream& s : trace_.streams) {
      if (!selector_.stream(s)) continue;
      (s.memory ? threads[s.thread].memory : threads[s.thread].opencl) = &s;
    }
    for (const auto& [thread, streams] : threads) {
      if (Status s = print_thread(thread, streams); !s) return s;
      if (!out_.open()) break;
    }
    return {};
  }

 private:
  Status print_thread(model::ThreadId thread, const ThreadStreams& streams) {
    LineQueue queue;
    Status memory_status;
    std::thread memory_thread;
    const bool memory = streams.memory && selector_.last(true) > 0;
    if (memory) {
      memory_thread = std::thread([&] {
        memory_status = unfold_memory(thread, *streams.memory, queue);
        queue.finish();
      });
    }
    Status status;
    if (streams.opencl) status = unfold_opencl(thread, *streams.opencl, memory ? &queue : nullptr);
    if (memory) {
      if (status.ok() && out_.open()) take(queue, ~uint64_t{0});
      queue.stop();
      memory_thread.join();
    }
    return status.ok() ? memory_status : status;
  }

  // The line of a call that is not wanted is empty: the OpenCL calls count on each.
  Status unfold_memory(model::ThreadId thread, const model::Stream& stream, LineQueue& queue) {
    LinePrinter printer(trace_, names_, options_.format, thread, true);
    Walk walk;
    walk.wanted = [&](const model::Node&, uint64_t first, uint64_t) { return first <= selector_.last(true); };
    walk.visit = [&](const WalkedEvent& e) {
      const bool wanted = selector_.event(true, e.number, e.shape, e.values);
      return queue.add([&](std::string& line) {
        if (wanted) printer.append(line, e);
      }) && e.number < selector_.last(true);
    };
    walk.left_out = [&](const model::Node& n, uint64_t first) {
      return queue.add([&](std::string& line) {
        if (selector_.everything()) printer.append_summary(line, n, first);
      });
    };
    return walk_stream(trace_, stream, walk);
  }

  Status unfold_opencl(model::ThreadId thread, const model::Stream& stream, LineQueue* queue) {
    LinePrinter printer(trace_, names_, options_.format, thread, false);
    Walk walk;
    walk.wanted = [&](const model::Node& n, uint64_t first, uint64_t last) {
      const bool wanted = queue || selector_.node(n, false, first, last);
      if (!wanted && progress_) progress_->add(last - first + 1);
      return wanted;
    };
    walk.visit = [&](const WalkedEvent& e) {
      if (progress_) progress_->add();
      const int at = allocs_[e.shape];
      if (queue && at >= 0 && e.values[static_cast<size_t>(at)] > 0) {
        take(*queue, static_cast<uint64_t>(e.values[static_cast<size_t>(at)]));
      }
      if (selector_.event(false, e.number, e.shape, e.values)) {
        printer.append(out_.buffer(), e);
        out_.check();
      }
      return out_.open() && (queue || e.number < selector_.last(false));
    };
    walk.left_out = [&](const model::Node& n, uint64_t first) {
      if (selector_.everything()) printer.append_summary(out_.buffer(), n, first);
      return out_.open();
    };
    return walk_stream(trace_, stream, walk);
  }

  void take(LineQueue& queue, uint64_t count) {
    queue.take(out_.open() ? count : 0, [this](std::string_view lines) { out_.write(lines); });
  }

  const model::Trace& trace_;
  const model::ObjectNames& names_;
  const Selector& selector_;
  const ExpandOptions& options_;
  Output& out_;
  std::vector<int> allocs_;
  Progress* progress_ = nullptr;
};

}  // namespace

Status print_calls(const model::Trace& trace, const ExpandOptions& options, Output& out) {
  const model::ObjectNames names(trace);
  const Result<Selector> selector = Selector::make(trace, names, options.selection);
  if (!selector) return selector.status();
  return Expander(trace, names, *selector, options, out).print();
}

int expand_command(int argc, char** argv) {
  CommandLine line("gtrace expand", "Prints every call with every argument, a line each, in each thread's own order.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  ExpandOptions options;
  options.format = settings.flag("json") ? CallFormat::Json : CallFormat::Text;
  Result<Selection> selection = read_selection(settings, opened->trace);
  if (!selection) return fail("gtrace", selection.status());
  options.selection = std::move(*selection);
  Output out;
  const Status status = print_calls(opened->trace, options, out);
  const int end = out.finish();
  if (status.ok()) return end;
  return fail("gtrace", status.kind() == Kind::Corrupt ? status.at(opened->path) : status);
}

}  // namespace gt::tracer
