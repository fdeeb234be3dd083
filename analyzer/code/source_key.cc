// Classes to keys.
#include "analyzer/code/source_key.h"

namespace gt::analyzer {
namespace {

using model::ObjectKind;

CodePlace place_of(const model::Trace& trace, const model::Site& s) {
  if (s.module >= trace.modules.size()) return {{}, {}, s.offset};
  const model::Module& m = trace.modules[s.module];
  return {m.build_id, m.path, s.offset};
}

}  // namespace

bool is_made_by_call(ObjectKind kind) {
  return kind != ObjectKind::Stack && kind != ObjectKind::Static && kind != ObjectKind::Unknown;
}

std::string label_of(const model::Trace& trace, const model::Class& c) {
  if (c.kind != ObjectKind::Static && c.kind != ObjectKind::File) return {};
  if (c.label >= trace.blobs.size()) return {};
  return std::string(as_text(trace.blobs[c.label].bytes));
}

std::vector<CodePlace> code_places(const model::Trace& trace, model::SiteId site) {
  std::vector<CodePlace> out;
  for (model::SiteId at = site; at < trace.sites.size(); at = trace.sites[at].outer) {
    out.push_back(place_of(trace, trace.sites[at]));
  }
  return out;
}

SourceKey source_key(const model::Trace& trace, model::ClassId cls, ObjectKind kind) {
  const model::Class& c = trace.classes[cls];
  if (!is_made_by_call(kind)) return {kind, 0, {}, label_of(trace, c)};
  return {kind, c.fn, code_places(trace, c.site), label_of(trace, c)};
}

}  // namespace gt::analyzer
