// gtrace export: which calls, in which order, how many of them; the formats do the rest.
#include "tracer/gtrace/export/export.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <variant>

#include "tracer/gtrace/commands.h"
#include "tracer/gtrace/export/export_formats.h"
#include "tracer/gtrace/base/open.h"
#include "tracer/gtrace/base/selection_cli.h"
#include "tracer/gtrace/base/units.h"
#include "traces/base/progress.h"
#include "traces/model/fold/fold.h"

namespace gt::tracer {
namespace {

constexpr const char* NoTimes = "the times of calls were not kept; record with gtrace run --timeline";

std::atomic<bool> g_interrupted{false};
void interrupt(int) { g_interrupted = true; }

using AnyWriter = std::variant<PerfettoWriter, ChromeWriter, CsvWriter, JsonWriter>;

AnyWriter make_writer(const model::Trace& trace, const model::ObjectNames& names, ExportFormat format, Output& out) {
  switch (format) {
    case ExportFormat::Perfetto:
      return AnyWriter(std::in_place_type<PerfettoWriter>, trace, names, out);
    case ExportFormat::Chrome:
      return AnyWriter(std::in_place_type<ChromeWriter>, trace, names, out);
    case ExportFormat::Csv:
      return AnyWriter(std::in_place_type<CsvWriter>, trace, names, out);
    case ExportFormat::Json:
      break;
  }
  return AnyWriter(std::in_place_type<JsonWriter>, trace, names, out);
}

class Exporter {
 public:
  Exporter(const model::Trace& trace, const model::ObjectNames& names, const ExportOptions& options,
           const Selector& selector, Output& out)
      : trace_(trace),
        names_(names),
        options_(options),
        selector_(selector),
        writer_(make_writer(trace, names, options.format, out)),
        out_(out),
        to_ns_(options.to_ns) {
    for (const bool memory : {false, true}) {
      for (const model::Stream& s : trace.streams) {
        if (s.memory == memory && selector.stream(s)) streams_.push_back(&s);
      }
    }
  }

  Result<Exported> run() {
    uint64_t calls = 0;
    for (const model::Stream* s : streams_) calls += model::event_count(s->nodes);
    Progress progress("exporting", calls);
    progress_ = &progress;
    if (options_.limit_bytes > 0 && has_timeline(trace_)) find_end();
    std::visit([](auto& w) { w.begin(); }, writer_);
    for (const model::Stream* s : streams_) GT_TRY(one(*s));
    std::visit([](auto& w) { w.end(); }, writer_);
    done_.interrupted = g_interrupted;
    if (to_ns_ < options_.to_ns) done_.left_from_ns = to_ns_;
    return done_;
  }

 private:
  bool in_time(const std::optional<model::EventTime>& t) const {
    return !t || (t->entry_ns >= options_.from_ns && t->entry_ns < options_.to_ns);
  }

  Status one(const model::Stream& stream) {
    Walk walk;
    walk.wanted = [&](const model::Node& n, uint64_t first, uint64_t last) {
      if (selector_.node(n, stream.memory, first, last)) return true;
      progress_->add(last - first + 1);
      return false;
    };
    walk.visit = [&](const WalkedEvent& e) {
      progress_->add();
      if (in_time(e.time) && selector_.event(stream.memory, e.number, e.shape, e.values)) add(stream, e);
      return out_.open() && !g_interrupted && e.number < selector_.last(stream.memory);
    };
    return walk_stream(trace_, stream, walk);
  }

  void add(const model::Stream& stream, const WalkedEvent& event) {
    const bool late = event.time && event.time->entry_ns >= to_ns_;
    if (late || (options_.limit_bytes > 0 && out_.bytes() >= options_.limit_bytes)) {
      ++done_.left_out;
      return;
    }
    ++done_.calls;
    done_.commands += event.command.has_value();
    const ExportedCall call{&stream, &event, done_.calls};
    std::visit([&](auto& w) { w.call(call); }, writer_);
  }

  // What a call takes, from the first ones of the stream, with a tenth to spare.
  double bytes_per_call(const model::Stream& stream) const {
    constexpr uint64_t Sample = 5000;
    Result<std::unique_ptr<Output>> nowhere = Output::to_file("/dev/null");
    if (!nowhere) return 0;
    AnyWriter writer = make_writer(trace_, names_, options_.format, **nowhere);
    uint64_t calls = 0;
    Walk walk;
    walk.wanted = [](const model::Node&, uint64_t, uint64_t) { return true; };
    walk.visit = [&](const WalkedEvent& e) {
      const ExportedCall call{&stream, &e, ++calls};
      std::visit([&](auto& w) { w.call(call); }, writer);
      return calls < Sample;
    };
    (void)walk_stream(trace_, stream, walk).ok();
    return 1.1 * static_cast<double>((*nowhere)->bytes()) / static_cast<double>(std::max<uint64_t>(calls, 1));
  }

  // When all calls up to a time fit the limit and all of them together do not, that time is the end, for every thread
  // alike. Sizes are judged by samples; the limit itself stands behind them.
  void find_end() {
    double total = 0;
    std::vector<Source> sources;
    for (const model::Stream* s : streams_) {
      auto times = model::TimelineReader::open(s->timeline);
      if (!times) continue;
      const double each = bytes_per_call(*s);
      total += static_cast<double>(times->events()) * each;
      sources.push_back({std::move(*times), each, 0});
    }
    const auto limit = static_cast<double>(options_.limit_bytes);
    if (total <= limit || !selector_.everything()) return;
    double bytes = 0;
    std::erase_if(sources, [](Source& s) { return !s.advance(); });
    while (!sources.empty() && bytes < limit) {
      const auto next = std::min_element(sources.begin(), sources.end(),
                                         [](const Source& a, const Source& b) { return a.entry_ns < b.entry_ns; });
      if (next->entry_ns >= options_.to_ns) return;
      if (next->entry_ns >= options_.from_ns) bytes += next->each;
      if (bytes >= limit) to_ns_ = next->entry_ns;
      if (!next->advance()) sources.erase(next);
    }
  }
  struct Source {
    model::TimelineReader times;
    double each = 0;  // bytes
    uint64_t entry_ns = 0;
    bool advance() {
      model::EventTime t;
      if (!times.next(t)) return false;
      entry_ns = t.entry_ns;
      return true;
    }
  };

  const model::Trace& trace_;
  const model::ObjectNames& names_;
  const ExportOptions& options_;
  const Selector& selector_;
  AnyWriter writer_;
  Output& out_;
  std::vector<const model::Stream*> streams_;  // OpenCL calls first: they matter more when there is a limit
  uint64_t to_ns_;
  Exported done_;
  Progress* progress_ = nullptr;
};

ExportFormat format_of(const std::string& name) {
  if (name == "chrome") return ExportFormat::Chrome;
  if (name == "csv") return ExportFormat::Csv;
  return name == "json" ? ExportFormat::Json : ExportFormat::Perfetto;
}

// Viewers want files, and know them by their names; rows are for pipes.
std::string default_output(const std::string& trace, ExportFormat format) {
  if (format == ExportFormat::Csv || format == ExportFormat::Json) return "-";
  const size_t slash = trace.rfind('/'), dot = trace.rfind('.');
  const bool has_dot = dot != trace.npos && (slash == trace.npos || dot > slash);
  return trace.substr(0, has_dot ? dot : trace.npos) + (format == ExportFormat::Chrome ? ".trace.json" : ".pftrace");
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {}, y {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

Result<ExportOptions> read_options(const Options& settings, const OpenedTrace& opened) {
  ExportOptions options;
  options.format = format_of(settings.text("format"));
  Result<Selection> selection = read_selection(settings, opened.trace);
  if (!selection) return selection.status();
  options.selection = std::move(*selection);
  for (auto [name, value] : {std::pair{"from", &options.from_ns}, {"to", &options.to_ns}}) {
    if (settings.text(name).empty()) continue;
    const Result<uint64_t> time = parse_time(settings.text(name));
    if (!time) return time.status();
    *value = *time;
  }
  options.limit_bytes = settings.integer("limit").value_or(0) * 1'000'000;
  return options;
}

bool needs_times(const ExportOptions& o) {
  const bool viewer = o.format == ExportFormat::Perfetto || o.format == ExportFormat::Chrome;
  return viewer || o.from_ns > 0 || o.to_ns != UINT64_MAX;
}

void report_written(const Exported& done, const std::string& path, const ExportOptions& options, const Output& out) {
  const bool perfetto = options.format == ExportFormat::Perfetto;
  fmt::print(stderr, "gtrace: {} calls and {} device commands, {:.1f} MB, in {}{}\n", done.calls, done.commands,
             static_cast<double>(out.bytes()) / 1e6, path, perfetto ? "; open it in https://ui.perfetto.dev" : "");
}

void report_left_out(const Exported& done, const ExportOptions& options) {
  std::string more = "--calls and --thread select";
  if (done.left_from_ns > 0) more = fmt::format("they begin at --from {}ns", done.left_from_ns);
  fmt::print(stderr, "gtrace: left out: {} calls beyond {} MB ({}; --limit 0 has all)\n", done.left_out,
             options.limit_bytes / 1'000'000, more);
}

}  // namespace

bool has_timeline(const model::Trace& trace) {
  return std::any_of(trace.streams.begin(), trace.streams.end(),
                     [](const model::Stream& s) { return !s.timeline.empty(); });
}

Result<Exported> export_trace(const model::Trace& trace, const ExportOptions& options, Output& out) {
  if (needs_times(options) && !has_timeline(trace)) {
    return Status(Kind::Corrupt, NoTimes);
  }
  const model::ObjectNames names(trace);
  const Result<Selector> selector = Selector::make(trace, names, options.selection);
  if (!selector) return selector.status();
  return Exporter(trace, names, options, *selector, out).run();
}

int export_command(int argc, char** argv) {
  CommandLine line("gtrace export", "Writes a trace for other programs: Perfetto, chrome://tracing, CSV, JSON.");
  const Options& settings = line.options();
  std::string file;
  line.argument("FILE", file, "The trace; the newest trace*.db here by default");
  if (const auto status = line.parse(argc, argv)) return *status;
  const Result<OpenedTrace> opened = open_trace(file);
  if (!opened) return fail("gtrace", opened.status());
  const Result<ExportOptions> options = read_options(settings, *opened);
  if (!options) return fail("gtrace", options.status());
  if (needs_times(*options) && !has_timeline(opened->trace)) {
    return fail("gtrace", Status(Kind::Corrupt, NoTimes).at(opened->path));
  }
  std::string path = settings.text("output");
  if (path.empty()) path = default_output(opened->path, options->format);
  if (same_file(path, opened->path)) {
    return fail("gtrace", Status(Kind::Invalid, path + " is the trace itself: name another file with -o"));
  }
  Result<std::unique_ptr<Output>> out = path == "-" ? std::make_unique<Output>() : Output::to_file(path);
  if (!out) return fail("gtrace", out.status());
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interrupt);
  const Result<Exported> done = export_trace(opened->trace, *options, **out);
  const int end = (*out)->finish();
  if (!done) {
    const Status s = done.status();
    return fail("gtrace", s.kind() == Kind::Corrupt ? s.at(opened->path) : s);
  }
  if (end != ExitOk) return end;
  if (path != "-") report_written(*done, path, *options, **out);
  if (done->interrupted) fmt::print(stderr, "gtrace: interrupted: what was written is what came before\n");
  if (done->left_out > 0) report_left_out(*done, *options);
  return done->interrupted ? 128 + SIGINT : ExitOk;
}

}  // namespace gt::tracer
