// The digest: model::digest over every stream, with numbering replaced by contents.
//
// A shape's key is a hash of what it refers to (function, place in code, forms of arguments,
// classes of objects); a class's key likewise; for values that are indices (blobs, code addresses)
// hashes of what they index are described, for what a clock showed nothing.
#include "traces/store/digest.h"

#include <cstdio>
#include <map>

#include "traces/api/clock_values.h"
#include "traces/model/folded/digest.h"
#include "traces/store/rows.h"

namespace gt::store {
namespace {

using model::ArgForm;
using model::NoIndex;
using model::Trace;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class Keys {
 public:
  explicit Keys(const Trace& trace) : trace_(trace) {
    for (const auto& b : trace.blobs) blobs_.push_back(blob_key(b));  // once: many calls may name one
    for (uint32_t i = 0; i < trace.sites.size(); ++i) sites_.push_back(site_key(trace.sites[i]));
    for (const auto& c : trace.classes) classes_.push_back(class_key(c));
    for (const auto& s : trace.shapes) shapes_.push_back(shape_key(s)), values_.push_back(values_of(s));
  }

  uint64_t shape(model::ShapeId id) const { return shapes_[id]; }

  // What is described in place of a value that never varies: of an index, what it names.
  int64_t described(model::ShapeId shape, size_t index, int64_t value) const {
    const std::vector<Value>& values = values_[shape];
    if (index >= values.size()) return value;
    if (values[index].of_clock) return 0;
    if (values[index].form == ArgForm::Blob) return static_cast<int64_t>(blob(value));
    if (values[index].form != ArgForm::Code) return value;
    const bool known = value >= 0 && static_cast<uint64_t>(value) < sites_.size();
    return static_cast<int64_t>(known ? sites_[static_cast<size_t>(value)] : 1);
  }

 private:
  uint64_t site(uint32_t id) const { return id == NoIndex ? 0 : sites_[id]; }
  uint64_t blob(int64_t id) const {
    return id < 0 || static_cast<uint64_t>(id) >= blobs_.size() ? 1 : blobs_[static_cast<size_t>(id)];
  }

  static uint64_t blob_key(const model::Blob& b) {
    RowHash h;
    h.bytes(b.bytes);
    return static_cast<uint64_t>(h.value());
  }
  uint64_t site_key(const model::Site& s) const {
    RowHash h;
    h.word(s.offset);
    if (s.module != NoIndex) {
      const model::Module& m = trace_.modules[s.module];
      h.bytes(as_bytes(m.build_id.empty() ? base_name(m.path) : std::string_view(m.build_id)));
    }
    if (s.outer != NoIndex) h.word(site_key(trace_.sites[s.outer]));
    return static_cast<uint64_t>(h.value());
  }
  uint64_t class_key(const model::Class& c) const {
    RowHash h;
    h.word(static_cast<uint64_t>(c.kind));
    h.word(c.thread);
    h.word(site(c.site));
    h.word(c.fn);
    h.word(c.label == NoIndex ? 0 : blob(c.label));
    return static_cast<uint64_t>(h.value());
  }
  uint64_t shape_key(const model::Shape& s) const {
    RowHash h;
    h.word(s.fn);
    h.word(site(s.site));
    h.word(s.thread);
    h.word(s.unfinished);
    for (const model::Arg& a : s.args) {
      h.word(a.param);
      h.word(static_cast<uint64_t>(a.form));
      h.word(static_cast<uint64_t>(a.effect));
      h.word(a.cls == NoIndex ? 0 : classes_[a.cls]);
    }
    return static_cast<uint64_t>(h.value());
  }

  struct Value {
    ArgForm form;
    bool of_clock;
  };
  static std::vector<Value> values_of(const model::Shape& s) {
    std::vector<Value> out;
    for (const model::Arg& a : s.args)
      out.insert(out.end(), static_cast<size_t>(value_count(a.form)), {a.form, api::is_clock_value(s.fn, a.param)});
    return out;
  }
  const Trace& trace_;
  std::vector<uint64_t> blobs_, sites_, classes_, shapes_;
  std::vector<std::vector<Value>> values_;
};

}  // namespace

std::string trace_digest(const Trace& trace) {
  const Keys keys(trace);
  std::vector<int> widths;
  for (const auto& s : trace.shapes) widths.push_back(s.values());
  std::map<std::pair<model::ThreadId, bool>, const model::Stream*> streams;
  for (const auto& s : trace.streams) streams[{s.thread, s.memory}] = &s;
  RowHash hash;
  for (const auto& [key, stream] : streams) {
    ByteWriter text;
    digest(
        stream->nodes, widths, [&](model::ShapeId id) { return keys.shape(id); },
        [&](model::ShapeId shape, size_t i, int64_t value) { return keys.described(shape, i, value); }, text);
    hash.word(key.first);
    hash.word(key.second);
    hash.bytes(text.view());
  }
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash.value()));
  return hex;
}

}  // namespace gt::store
