// Names from the trace's tables and the API table.
#include "tracer/gtrace/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "traces/api/alloc_fn.h"
#include "traces/api/api.h"
#include "traces/api/print.h"
#include "traces/model/fold/address_param.h"
#include "traces/model/fold/update_param.h"
#include "traces/model/ssa/object_names.h"

namespace gt::tracer {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Well-formed UTF-8 without control characters other than white space.
bool is_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t extra = c < 0x80                ? 0
                         : c >= 0xc2 && c < 0xe0 ? 1
                         : c >= 0xe0 && c < 0xf0 ? 2
                         : c >= 0xf0 && c < 0xf5 ? 3
                                                 : 9;
    if (extra == 9 || i + extra >= s.size() + (extra == 0)) return false;
    if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return false;
    for (size_t k = 1; k <= extra; ++k) {
      if ((static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return false;
    }
    i += extra + 1;
  }
  return true;
}

// Few distinct values of enumerations and error codes come again and again: their names are looked
// up once.
const std::string& named_value(model::FnId fn, uint16_t param, int64_t value) {
  constexpr size_t Many = 4096;
  thread_local std::map<std::tuple<model::FnId, uint16_t, int64_t>, std::string> known;
  if (known.size() > Many) known.clear();
  const auto [it, fresh] = known.try_emplace({fn, param, value});
  if (fresh) it->second = api::print_value(fn, param, static_cast<uint64_t>(value));
  return it->second;
}

const char* alloc_param_name(model::FnId fn, uint16_t param) {
  const api::AllocFnInfo& info = api::alloc_fn_info(fn);
  return param < info.params.size() ? info.params[param].name : "";
}

std::string place_text(const model::Trace& trace, const model::Site& site) {
  if (site.module == model::NoIndex) return fmt::format("{:#x}", site.offset);
  return fmt::format("{}+{:#x}", base_name(trace.modules[site.module].path), site.offset);
}

}  // namespace

std::string site_text(const model::Trace& trace, model::SiteId id) {
  const model::Site* site = id == model::NoIndex ? nullptr : model::find_site(trace, id);
  if (!site) return "?";
  std::string out = place_text(trace, *site);
  while (site->outer != model::NoIndex) {
    site = &trace.sites[site->outer];
    out += " < " + place_text(trace, *site);
  }
  return out;
}

std::string param_name(model::FnId fn, uint16_t param) {
  if (param == model::ParamReturn) return "return";
  if (param == model::ParamCallback) return "callback";
  if (param == model::ParamContent) return "content";
  if (param == model::ParamSharedContent) return "shared";
  if (param == model::ParamAddress) return "address";
  if (param == model::ParamBefore) return "before";
  if (param == model::ParamAfter) return "after";
  if (param == model::ParamUpdate) return "update";
  if (param & model::ParamKernelArg) return "arg" + std::to_string(param & ~model::ParamKernelArg);
  const std::string name =
      api::is_alloc_fn(fn) ? alloc_param_name(fn, param) : api::param_name(fn, param);
  return name == "?" || name.empty() ? "p" + std::to_string(param) : name;
}

void append_number(std::string& out, model::FnId fn, uint16_t param, int64_t value) {
  const bool result = param == model::ParamReturn;
  const api::ParamInfo& info = result ? api::fn_info(fn).result : api::param_info(fn, param);
  if (info.group[0] != '\0' || api::is_error_code(fn, param)) {
    out += named_value(fn, param, value);
    return;
  }
  char text[24];
  char* const end = text + sizeof text;
  // Addresses and sizes have no sign; a parameter that we know nothing of may have one.
  const bool is_unsigned = value < 0 && !info.is_signed && info.name[0] != '?';
  out.append(text, is_unsigned ? std::to_chars(text, end, static_cast<uint64_t>(value)).ptr
                               : std::to_chars(text, end, value).ptr);
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
}

std::string quoted_blob(const model::Blob& blob) {
  std::string_view text = as_text(blob.bytes);
  if (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  std::string out = "\"";
  if (is_text(text) && !(text.empty() && !blob.bytes.empty())) {
    append_escaped(out, text);
  } else {
    out += "0x";
    constexpr char Hex[] = "0123456789abcdef";
    for (const uint8_t b : blob.bytes) out += {Hex[b >> 4], Hex[b & 15]};
  }
  if (blob.full_size > blob.bytes.size()) out += fmt::format("… {} bytes", blob.full_size);
  return out + "\"";
}

}  // namespace gt::tracer
