// What a trace's numbers are called: places in code, parameters, values.
// Thread safety: all functions, while the trace does not change. Numbers that were printed are remembered for each
// thread.
#pragma once

#include <string>

#include "traces/model/fold/event.h"

namespace gt::tracer {

// "app+0x1234", with the calls around it where it has a chain: "app+0x1234 < app+0x99"; "?" when not known.
std::string site_text(const model::Trace& trace, model::SiteId site);
std::string param_name(model::FnId fn, uint16_t param);  // "buffer"
// A number as its parameter's type prints: "4096", "CL_TRUE",
// "CL_MEM_READ_ONLY|CL_MEM_COPY_HOST_PTR".
void append_number(std::string& out, model::FnId fn, uint16_t param, int64_t value);

// A blob's bytes in quotes, escaped as JSON does; "0x…" hex without quotes inside when they are no
// text.
std::string quoted_blob(const model::Blob& blob);
void append_escaped(std::string& out, std::string_view text);  // JSON escapes, no quotes

}  // namespace gt::tracer
