// What makes two classes of memory one source of transfers: the code that made them.
//
// The thread that allocated does not matter, nor the process that ran the code. A place is a build-id, a path and an
// offset; with the calls around it where it has a chain.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::analyzer {

using CodePlace = std::tuple<std::string, std::string, uint64_t>;
using SourceKey = std::tuple<model::ObjectKind, model::FnId, std::vector<CodePlace>, std::string>;

std::vector<CodePlace> code_places(const model::Trace& trace, model::SiteId site);  // and the calls around it
// `kind`: the class's, or Mapping for a buffer that is mapped. REQUIRES: `cls` is a class of the checked trace.
SourceKey source_key(const model::Trace& trace, model::ClassId cls, model::ObjectKind kind);

bool is_made_by_call(model::ObjectKind kind);                            // else it is the stack, static data or unknown
std::string label_of(const model::Trace& trace, const model::Class& c);  // a module's or file's path

}  // namespace gt::analyzer
