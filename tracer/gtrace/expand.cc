// gtrace expand: unfolds a trace.
#include "tracer/gtrace/expand.h"

#include <atomic>
#include <charconv>
#include <map>
#include <thread>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/line_queue.h"
#include "tracer/gtrace/open.h"
#include "traces/base/settings_cli.h"
#include "traces/model/fold.h"

namespace gt::tracer {
namespace {

using model::ShapeId;
using Values = std::span<const int64_t>;

// Writes the lines of one stream's calls.
class LinePrinter {
 public:
  LinePrinter(const model::Trace& trace, const model::ObjectNames& names, CallFormat format,
              model::ThreadId thread, bool memory)
      : calls_(trace, names, format), json_(format == CallFormat::Json) {
    const std::string t = std::to_string(thread);
    prefix_ =
        json_ ? "{\"thread\":" + t + ",\"stream\":\"" + (memory ? "memory" : "opencl") + "\",\"n\":"
              : "T" + t + (memory ? " m" : " #");
  }

  void append(std::string& out, ShapeId shape, Values values) {
    char number[24];
    out += prefix_;
    out.append(number, std::to_chars(number, number + sizeof number, ++count_).ptr);
    out += json_ ? "," : " ";
    calls_.append(out, shape, values);
    out += json_ ? "}\n" : "\n";
  }

 private:
  CallText calls_;
  bool json_;
  std::string prefix_;
  uint64_t count_ = 0;
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
  Expander(const model::Trace& trace, const ExpandOptions& options, Output& out)
      : trace_(trace), options_(options), out_(out), names_(trace), allocs_(allocs_values(trace)) {
    for (const model::Shape& s : trace.shapes) value_counts_.push_back(s.values());
  }

  Status print() {
    std::map<model::ThreadId, ThreadStreams> threads;
    for (const model::Stream& s : trace_.streams) {
      (s.memory ? threads[s.thread].memory : threads[s.thread].opencl) = &s;
    }
    for (const auto& [thread, streams] : threads) {
      if (options_.thread && *options_.thread != thread) continue;
      if (!print_thread(thread, streams)) {
        return {Kind::Corrupt, "the trace is damaged (thread " + std::to_string(thread) +
                                   ": its calls do not unfold)"};
      }
      if (!out_.open()) break;
    }
    return {};
  }

 private:
  bool print_thread(model::ThreadId thread, const ThreadStreams& streams) {
    LineQueue queue;
    std::atomic<bool> memory_ok{true};
    std::thread memory_thread;
    const bool memory = streams.memory && options_.memory;
    if (memory) {
      memory_thread = std::thread([&] {
        memory_ok = unfold_memory(thread, *streams.memory, queue);
        queue.finish();
      });
    }
    const bool ok =
        !streams.opencl || unfold_opencl(thread, *streams.opencl, memory ? &queue : nullptr);
    if (memory) {
      if (ok && out_.open()) take(queue, ~uint64_t{0});
      queue.stop();
      memory_thread.join();
    }
    return ok && memory_ok;
  }

  bool unfold_memory(model::ThreadId thread, const model::Stream& stream, LineQueue& queue) {
    LinePrinter printer(trace_, names_, options_.format, thread, true);
    bool wanted = true;
    const bool ok = expand(stream.nodes, value_counts_, [&](ShapeId shape, Values values) {
      return wanted = queue.add([&](std::string& line) { printer.append(line, shape, values); });
    });
    return ok || !wanted;
  }

  bool unfold_opencl(model::ThreadId thread, const model::Stream& stream, LineQueue* queue) {
    LinePrinter printer(trace_, names_, options_.format, thread, false);
    const bool ok = expand(stream.nodes, value_counts_, [&](ShapeId shape, Values values) {
      const int at = allocs_[shape];
      if (queue && at >= 0 && values[static_cast<size_t>(at)] > 0) {
        take(*queue, static_cast<uint64_t>(values[static_cast<size_t>(at)]));
      }
      printer.append(out_.buffer(), shape, values);
      out_.check();
      return out_.open();
    });
    return ok || !out_.open();
  }

  void take(LineQueue& queue, uint64_t count) {
    queue.take(out_.open() ? count : 0, [this](std::string_view lines) { out_.write(lines); });
  }

  const model::Trace& trace_;
  const ExpandOptions& options_;
  Output& out_;
  model::ObjectNames names_;
  std::vector<int> value_counts_, allocs_;
};

}  // namespace

Status print_calls(const model::Trace& trace, const ExpandOptions& options, Output& out) {
  return Expander(trace, options, out).print();
}

int expand_command(int argc, char** argv) {
  CLI::App app("Prints every call with every argument, a line each, in each thread's own order.",
               "gtrace expand");
  Options settings(app, "gtrace expand");
  std::string file;
  app.add_option("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  ExpandOptions options;
  options.format = settings.flag("json") ? CallFormat::Json : CallFormat::Text;
  options.memory = !settings.flag("no-memory");
  if (const auto thread = settings.integer("thread")) {
    if (*thread >= opened->trace.threads.size()) {
      return fail("gtrace",
                  Status(Kind::Invalid, "the trace has no thread " + std::to_string(*thread)));
    }
    options.thread = static_cast<model::ThreadId>(*thread);
  }
  Output out;
  const Status status = print_calls(opened->trace, options, out);
  const int end = out.finish();
  return status.ok() ? end : fail("gtrace", status.at(opened->path));
}

}  // namespace gt::tracer
