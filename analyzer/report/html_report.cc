// Collecting the page's data.
#include "analyzer/report/html_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/html/page.h"
#include "analyzer/report/flow_json.h"
#include "analyzer/report/json_report.h"

namespace gt::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Of one source, and of all of them: what a page can hold and stay quick.
constexpr size_t MostSourceBytes = 512 << 10;
constexpr size_t MostBytes = 6 << 20;

std::string_view text_of(const model::Trace& trace, model::BlobId id) {
  if (id >= trace.blobs.size()) return {};
  const std::string_view text = as_text(trace.blobs[id].bytes);
  return text.substr(0, text.find('\0'));
}

// Each program's source once; `of` gives the one of each kernel, -1 when there is none.
Json sources_json(const Analysis& a, const model::Trace& trace) {
  Json texts = Json::array(), of = Json::array();
  std::map<std::pair<model::BlobId, model::BlobId>, size_t> known;
  size_t room = MostBytes;
  for (const KernelFacts& k : a.kernels) {
    const std::string_view text = text_of(trace, k.source);
    if (text.empty()) {
      of.push_back(-1);
      continue;
    }
    const auto [at, fresh] = known.try_emplace({k.source, k.options}, texts.size());
    of.push_back(at->second);
    if (!fresh) continue;
    const std::string_view shown = text.substr(0, std::min(room, MostSourceBytes));
    room -= shown.size();
    texts.push_back({{"text", shown},
                     {"options", text_of(trace, k.options)},
                     {"cut", text.size() - shown.size()}});
  }
  return {{"texts", texts}, {"of", of}};
}

}  // namespace

std::string format_html(const Analysis& a, const model::Trace& trace,
                        const std::string& trace_path, const std::string& profile) {
  CallSites sites;
  const Json data = {{"version", GT_VERSION},
                     {"report", report_json(a, trace_path, profile)},
                     {"timeline", timeline_json(find_timeline(trace, sites))},
                     {"sources", sources_json(a, trace)}};
  return html::make_page(a.program_name() + ": ganalyze",
                         data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace gt::analyzer
