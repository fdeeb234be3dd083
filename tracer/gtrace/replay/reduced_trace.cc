#include "tracer/gtrace/replay/reduced_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tracer/gtrace/base/walk.h"
#include "traces/contents/content_reader.h"
#include "traces/contents/content_writer.h"
#include "traces/model/fold/fold.h"
#include "traces/model/folded/timeline.h"

namespace gt::tracer {

using model::ArgForm;
using model::Trace;

namespace {

// What a call of the smaller trace still names.
struct Used {
  std::set<int64_t> contents, blobs;
  std::set<model::ClassId> classes;
};

void note(const model::Shape& shape, std::span<const int64_t> values, Used& used) {
  size_t value = 0;
  for (const model::Arg& a : shape.args) {
    const size_t at = value;
    value += static_cast<size_t>(model::value_count(a.form));
    if (a.cls != model::NoIndex) used.classes.insert(a.cls);
    if (a.form == ArgForm::Blob) used.blobs.insert(values[at]);
    const bool content = a.param == model::ParamContent || a.param == model::ParamSharedContent;
    if (content && a.form == ArgForm::Int && values[at] >= 0) used.contents.insert(values[at]);
  }
}

class Reduction {
 public:
  Reduction(const Trace& from, const CallGraph& graph, const CallSet& calls)
      : from_(from), graph_(graph), calls_(calls) {}

  Status streams(uint32_t process) {
    out_ = from_;
    out_.streams.clear();
    for (model::ShapeStats& s : out_.stats) s = {};
    for (const model::Stream& s : from_.streams) {
      if (!s.memory && from_.threads[s.thread].process == process) GT_TRY(stream(s));
    }
    return {};
  }

  void tables(uint32_t process) {
    for (size_t i = 0; i < out_.processes.size(); ++i) {
      if (i == process) continue;  // what else was run is nobody's business
      out_.processes[i].executable.clear();
      out_.processes[i].arguments.clear();
    }
    out_.object_times.clear();
    for (model::DeviceTime& d : out_.devices) d = model::DeviceTime{d.device, {}};
    std::erase_if(out_.kernels, [this](const model::Kernel& k) { return !used_.classes.contains(k.cls); });
    for (const model::Kernel& k : out_.kernels) {
      used_.blobs.insert(k.source);
      used_.blobs.insert(k.options);
    }
    for (const model::Class& c : out_.classes) used_.blobs.insert(c.label);
    for (size_t i = 0; i < out_.blobs.size(); ++i) {
      if (!used_.blobs.contains(static_cast<int64_t>(i))) out_.blobs[i] = {};
    }
  }

  void facts(const std::string& key) {
    std::erase_if(out_.facts, [](const auto& fact) {
      const std::string_view name = fact.first;
      const bool keeps = name == "timing" || name == "capture" || name == "recording" || name == "opencl_library" ||
                         name.starts_with("device.");
      return !keeps;
    });
    out_.facts.emplace_back("calls", fmt::format("{}", pushed_));
    out_.facts.emplace_back("memory_calls", "0");
    out_.facts.emplace_back("reduced.from_calls", fmt::format("{}", graph_.size()));
    if (!key.empty()) out_.facts.emplace_back("contents.key", key);
  }

  const Trace& trace() const { return out_; }
  const Used& used() const { return used_; }
  uint64_t calls() const { return pushed_; }

 private:
  Status stream(const model::Stream& stream) {
    model::Folder folder;
    model::TimelineBuilder times;
    const bool timed = !stream.timeline.empty();
    Walk walk;
    walk.wanted = [](const model::Node&, uint64_t, uint64_t) { return true; };
    walk.visit = [&](const WalkedEvent& e) {
      const std::optional<CallIndex> call = graph_.find(stream.thread, e.number);
      if (!call || !calls_[*call]) return true;
      folder.push(e.shape, e.values);
      if (timed && e.time) times.add_event(e.time->entry_ns, e.time->duration_ns);
      ++out_.stats[e.shape].calls;
      note(from_.shapes[e.shape], e.values, used_);
      ++pushed_;
      return true;
    };
    GT_TRY(walk_stream(from_, stream, walk));
    if (folder.events() == 0) return {};
    out_.streams.push_back({stream.thread, false, folder.snapshot(), timed ? times.encode() : Bytes()});
    return {};
  }

  const Trace& from_;
  const CallGraph& graph_;
  const CallSet& calls_;
  Trace out_;
  Used used_;
  uint64_t pushed_ = 0;
};

// The contents of `numbers`, and the files that programs include.
Status copy_contents(const contents::ContentReader& from, uint32_t process, const std::set<int64_t>& numbers,
                     contents::ContentWriter& to, ReducedFiles& files) {
  Bytes bytes;
  for (const int64_t number : numbers) {
    if (!from.has(process, number)) continue;
    GT_TRY(from.read(process, number, bytes));
    (void)to.add(process, number, bytes);
    to.commit();
    ++files.contents;
    files.content_bytes += bytes.size();
  }
  for (const contents::UsedFile& f : from.files()) {
    if (f.process != process || !from.has(process, f.number)) continue;
    GT_TRY(from.read(process, f.number, bytes));
    (void)(to.add(process, f.number, bytes) && to.add_file(process, f.number, f.path));
  }
  to.commit();
  to.close();
  return to.trouble();
}

}  // namespace

Result<ReducedFiles> write_reduced(const OpenedTrace& from, uint32_t process, const CallGraph& graph,
                                   const CallSet& calls, const std::string& path) {
  std::error_code none;
  if (std::filesystem::equivalent(path, from.path, none))
    return Status(Kind::Invalid, fmt::format("{}: is the trace that is being reduced", path));
  Reduction reduction(from.trace, graph, calls);
  GT_TRY(reduction.streams(process));
  reduction.tables(process);
  ReducedFiles files;
  files.calls = reduction.calls();
  std::string key_text;
  GT_TRY(store::keep_older(path));
  if (const std::string_view old = from.trace.fact("contents.key"); !old.empty()) {
    const Result<contents::ContentReader> reader = contents::ContentReader::open(contents::path_beside(from.path), old);
    if (!reader) return reader.status();
    const Result<contents::Key> key = contents::random_key();
    if (!key) return key.status();
    Result<contents::ContentWriter> writer = contents::ContentWriter::open(contents::path_beside(path), *key);
    if (!writer) return writer.status();
    GT_TRY(copy_contents(*reader, process, reduction.used().contents, *writer, files));
    key_text = contents::key_text(*key);
  }
  reduction.facts(key_text);
  GT_TRY(store::write_trace(path, reduction.trace()));
  return files;
}

}  // namespace gt::tracer
