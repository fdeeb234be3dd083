// Facts to origins and back.
#include "traces/model/folded/kernel_origin.h"

#include <algorithm>
#include <charconv>

namespace gt::model {
namespace {

constexpr std::string_view Count = "kernel.programs", Begin = "kernel.", End = ".program";

std::string blob_text(BlobId id) { return id == NoIndex ? "-1" : std::to_string(id); }

// The part of `text` before `end`, which is taken off.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

uint32_t number(std::string_view text, size_t limit) {
  uint32_t v = NoIndex;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  return error == std::errc() && end == text.data() + text.size() && v < limit ? v : NoIndex;
}

KernelOrigin parse(const Trace& trace, std::string_view value) {
  std::string_view blobs = take_until(value, '\n');
  KernelOrigin out;
  out.source = number(take_until(blobs, ' '), trace.blobs.size());
  out.options = number(take_until(blobs, ' '), trace.blobs.size());
  while (!blobs.empty() && out.modules.size() < MostModules) {
    const BlobId module = number(take_until(blobs, ' '), trace.blobs.size());
    if (module != NoIndex) out.modules.push_back(module);
  }
  out.declared = value;
  return out;
}

}  // namespace

void add_origin(std::vector<KernelOrigin>& origins, KernelOrigin origin) {
  if (origins.size() >= MostOrigins) origin = {};
  if (std::find(origins.begin(), origins.end(), origin) == origins.end()) origins.push_back(std::move(origin));
}

void add_origin_facts(Trace& trace, const KernelOrigins& origins) {
  size_t programs = 0;
  for (const auto& [cls, list] : origins) programs += list.size();
  trace.facts.emplace_back(Count, std::to_string(programs));
  for (const auto& [cls, list] : origins) {
    const bool plain = list.size() == 1 && list[0].declared.empty() && list[0].modules.empty();
    if (plain) continue;  // the row of the class says it
    const std::string name = std::string(Begin) + std::to_string(cls) + std::string(End);
    for (const KernelOrigin& o : list) {
      std::string blobs = blob_text(o.source) + " " + blob_text(o.options);
      for (const BlobId module : o.modules) blobs += " " + blob_text(module);
      trace.facts.emplace_back(name, blobs + "\n" + o.declared);
    }
  }
}

KernelOrigins read_origins(const Trace& trace, bool& complete) {
  KernelOrigins out;
  complete = !trace.fact(Count).empty();
  for (const auto& [name, value] : trace.facts) {
    if (!name.starts_with(Begin) || !name.ends_with(End) || name.size() <= Begin.size() + End.size()) continue;
    const std::string_view middle =
        std::string_view(name).substr(Begin.size(), name.size() - Begin.size() - End.size());
    const ClassId cls = number(middle, trace.classes.size());
    if (cls != NoIndex) add_origin(out[cls], parse(trace, value));
  }
  for (const Kernel& k : trace.kernels)
    if (out[k.cls].empty()) out[k.cls].push_back({k.source, k.options, {}, {}});
  return out;
}

std::vector<DeclaredArg> parse_declared(std::string_view lines) {
  std::vector<DeclaredArg> out;
  while (!lines.empty()) {
    std::string_view line = take_until(lines, '\n');
    DeclaredArg arg;
    for (std::string* part : {&arg.address, &arg.access, &arg.qualifiers, &arg.type, &arg.name})
      *part = take_until(line, '\t');
    out.push_back(std::move(arg));
  }
  return out;
}

}  // namespace gt::model
