// CSV and JSON: a row a call; and what all formats share.
#include <fmt/format.h>

#include <algorithm>

#include "tracer/gtrace/export/export_formats.h"
#include "tracer/gtrace/base/names.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

constexpr size_t MaxTracks = 16;  // a queue with more commands at once is drawn with overlaps

std::string number_or_nothing(bool there, uint64_t n) { return there ? std::to_string(n) : std::string(); }

}  // namespace

QueueTracks::Track QueueTracks::place(uint32_t process, const std::string& queue, uint64_t start_ns, uint64_t end_ns) {
  std::vector<Used>& all = queues_[{process, queue}];
  auto used = std::find_if(all.begin(), all.end(), [&](const Used& u) { return u.end_ns <= start_ns; });
  if (used == all.end() && all.size() == MaxTracks) --used;
  const bool fresh = used == all.end();
  if (fresh) {
    std::string name = queue.empty() ? "?" : queue;
    if (!all.empty()) name += fmt::format(" ({})", all.size() + 1);
    all.push_back({{std::move(name), next_++, false}, 0});
    used = all.end() - 1;
  }
  used->end_ns = std::max(used->end_ns, end_ns);
  Track track = used->track;
  track.fresh = fresh;
  return track;
}

std::vector<bool> processes_with_calls(const model::Trace& trace) {
  std::vector<bool> active(trace.processes.size());
  for (const model::Stream& s : trace.streams) active[trace.threads[s.thread].process] = true;
  return active;
}

std::string process_name(const model::Process& process) {
  return process.executable.substr(process.executable.rfind('/') + 1);
}

std::string command_line(const model::Process& process) {
  std::string out;
  for (const std::string& a : process.arguments) out += (out.empty() ? "" : " ") + a;
  return out.empty() ? process.executable : out;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

CsvWriter::CsvWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out)
    : trace_(trace), text_(trace, names, CallFormat::Text), fields_(trace, names), out_(out) {}

void CsvWriter::begin() {
  out_.write("pid,thread,stream,n,function,entry_ns,duration_ns,device_start_ns,device_ns,title,queue,direction,bytes,"
             "site,call\n");
}

void CsvWriter::call(const ExportedCall& c) {
  const WalkedEvent& e = *c.event;
  const model::Shape& shape = trace_.shapes[e.shape];
  const CommandFacts facts = c.stream->memory ? CommandFacts{} : fields_.command(e.shape, e.values);
  std::string text;
  text_.append(text, e.shape, e.values);
  const bool returned = e.time && e.time->duration_ns;
  std::string& row = out_.buffer();
  row += fmt::format("{},{},{},{},{},{},{},", trace_.processes[trace_.threads[c.stream->thread].process].pid,
                     c.stream->thread, c.stream->memory ? "memory" : "opencl", e.number,
                     csv_cell(store::function_name(shape.fn)),
                     number_or_nothing(e.time.has_value(), e.time ? e.time->entry_ns : 0),
                     number_or_nothing(returned, returned ? *e.time->duration_ns : 0));
  row += fmt::format("{},{},{},{},{},{},{},{}\n",
                     number_or_nothing(e.command.has_value(), e.command ? e.command->start_ns : 0),
                     number_or_nothing(e.command.has_value(), e.command ? e.command->length_ns : 0),
                     csv_cell(facts.title), csv_cell(facts.queue),
                     store::direction_name(shape.moves),
                     number_or_nothing(facts.bytes > 0, facts.bytes), csv_cell(site_text(trace_, shape.site)),
                     csv_cell(text));
  out_.check();
}

JsonWriter::JsonWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out)
    : text_(trace, names, CallFormat::Json), out_(out) {}

void JsonWriter::begin() {
  out_.set_tail("\n]\n");
  out_.write("[");
}

void JsonWriter::call(const ExportedCall& c) {
  const WalkedEvent& e = *c.event;
  std::string& row = out_.buffer();
  row += first_ ? "\n" : ",\n";
  first_ = false;
  row += fmt::format(R"({{"thread":{},"stream":"{}","n":{},)", c.stream->thread, c.stream->memory ? "memory" : "opencl",
                     e.number);
  if (e.time) row += fmt::format(R"("entry_ns":{},)", e.time->entry_ns);
  if (e.time && e.time->duration_ns) row += fmt::format(R"("duration_ns":{},)", *e.time->duration_ns);
  if (e.command) {
    row += fmt::format(R"("device_start_ns":{},"device_ns":{},)", e.command->start_ns, e.command->length_ns);
  }
  text_.append(row, e.shape, e.values);
  row += "}";
  out_.check();
}

}  // namespace gt::tracer
