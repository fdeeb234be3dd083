// The keys of a site.
#include "analyzer/report/site_json.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

const char* call_text(CallKind kind) {
  constexpr const char* Names[] = {"unknown", "none", "direct", "library", "indirect"};
  return Names[static_cast<size_t>(kind)];
}

const char* named_by_text(NamedBy source) {
  constexpr const char* Names[] = {"", "symbols", "debug information"};
  return Names[static_cast<size_t>(source)];
}

Json one_site(const CallSite& s) {
  Json frames = Json::array();
  for (const Frame& f : s.frames) frames.push_back({{"function", f.function}, {"file", f.file}, {"line", f.line}});
  const Frame own = s.frames.empty() ? Frame() : s.frames[0];
  return {{"module", s.module},  {"build_id", s.build_id},
          {"offset", s.offset},  {"function", own.function},
          {"file", own.file},    {"line", own.line},
          {"inlined", frames},   {"call", call_text(s.call)},
          {"target", s.target},  {"named_by", named_by_text(s.named_by)},
          {"problem", s.problem}};
}

}  // namespace

Json site_json(const CallSite& s) {
  Json out = one_site(s);
  out["around"] = Json::array();
  for (const CallSite& c : s.around) out["around"].push_back(one_site(c));
  return out;
}

}  // namespace gt::analyzer
