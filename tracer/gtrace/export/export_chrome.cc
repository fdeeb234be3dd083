// Chrome's Trace Event Format: complete events, flows, names. Times are microseconds.
#include <fmt/format.h>

#include "tracer/gtrace/export/export_formats.h"
#include "tracer/gtrace/base/names.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

// A queue's track is shown as a thread of its process; no thread of a kernel has such a number.
constexpr uint64_t FirstQueue = uint64_t{1} << 32;

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

std::string microseconds(uint64_t ns) { return fmt::format("{}.{:03d}", ns / 1000, ns % 1000); }

}  // namespace

ChromeWriter::ChromeWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out)
    : trace_(trace), text_(trace, names, CallFormat::Json), fields_(trace, names), out_(out) {}

void ChromeWriter::element(const std::string& text) {
  out_.write(first_ ? text : ",\n" + text);
  first_ = false;
}

void ChromeWriter::name_thing(const char* what, int64_t pid, uint64_t tid, const std::string& name) {
  element(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what, pid, tid,
                      escaped(name)));
}

void ChromeWriter::begin() {
  out_.set_tail("\n]\n");
  out_.write("[\n");
  const std::vector<bool> active = processes_with_calls(trace_);
  for (size_t i = 0; i < trace_.processes.size(); ++i) {
    if (active[i]) name_thing("process_name", trace_.processes[i].pid, 0, command_line(trace_.processes[i]));
  }
  for (size_t i = 0; i < trace_.threads.size(); ++i) {
    const model::Thread& t = trace_.threads[i];
    if (!active[t.process]) continue;
    name_thing("thread_name", trace_.processes[t.process].pid, static_cast<uint64_t>(t.tid), fmt::format("T{}", i));
  }
}

void ChromeWriter::call(const ExportedCall& c) {
  const model::Thread& thread = trace_.threads[c.stream->thread];
  const int64_t pid = trace_.processes[thread.process].pid;
  const model::EventTime& time = *c.event->time;
  const std::string name = escaped(store::function_name(trace_.shapes[c.event->shape].fn));
  const std::string at = fmt::format(R"("pid":{},"tid":{},"ts":{})", pid, thread.tid, microseconds(time.entry_ns));
  std::string args = fmt::format(R"("args":{{"n":{},)", c.event->number);
  text_.append(args, c.event->shape, c.event->values);
  if (c.stream->memory) {
    element(fmt::format(R"({{"ph":"i","s":"t","name":"{}","cat":"memory",{},{}}}}})", name, at, args));
    return;
  }
  element(fmt::format(R"({{"ph":"X","name":"{}","cat":"opencl",{},"dur":{},{}}}}})", name, at,
                      microseconds(time.duration_ns.value_or(0)), args));
  if (!c.event->command) return;

  const model::CommandTime& run = *c.event->command;
  const CommandFacts facts = fields_.command(c.event->shape, c.event->values);
  const QueueTracks::Track queue =
      queues_.place(thread.process, facts.queue, run.start_ns, run.start_ns + run.length_ns);
  if (queue.fresh) name_thing("thread_name", pid, FirstQueue + queue.id, "queue " + queue.name);
  const std::string there =
      fmt::format(R"("pid":{},"tid":{},"ts":{})", pid, FirstQueue + queue.id, microseconds(run.start_ns));
  const std::string more = fmt::format(R"("args":{{"n":{},"bytes":{},"allocation":"{}",)", c.event->number,
                                       facts.bytes, escaped(facts.allocation));
  element(fmt::format(R"({{"ph":"X","name":"{}","cat":"device",{},"dur":{},{}{}}}}})", escaped(facts.title), there,
                      microseconds(run.length_ns), more, args.substr(args.find(',') + 1)));
  element(fmt::format(R"({{"ph":"s","name":"enqueue","cat":"flow","id":{},{}}})", c.id, at));
  element(fmt::format(R"({{"ph":"f","bp":"e","name":"enqueue","cat":"flow","id":{},{}}})", c.id, there));
}

}  // namespace gt::tracer
