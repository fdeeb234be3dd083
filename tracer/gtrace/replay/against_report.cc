// What two replays in step found, for people and for machines.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tracer/gtrace/base/units.h"
#include "tracer/gtrace/replay/against.h"
#include "traces/model/ssa/object_names.h"

namespace gt::tracer {

using Json = nlohmann::ordered_json;
using Kind = AgainstOutcome::Kind;

namespace {

constexpr std::array<const char*, 2> Letters = {"A", "B"};

// "buffer b2"; empty: the recording does not know it.
std::string object_text(const model::Trace& trace, const OutputReport& o) {
  if (o.cls >= trace.classes.size()) return "";
  std::string text = fmt::format("{} ", model::object_kind_name(trace.classes[o.cls].kind));
  model::ObjectNames(trace).append(text, o.cls, o.slot);
  return text;
}

std::string launch_text(const LaunchReport& l) {
  return fmt::format("launch {} of {} (call T{} #{})", l.nth, l.kernel, l.launch.thread, l.launch.number);
}

std::string difference_text(const OpenedTrace& opened, const AgainstOutcome& o) {
  const Difference& d = o.difference;
  const std::string object = object_text(opened.trace, o.output);
  return fmt::format(
      "{} differs: argument {}{}{}: {} of {} {}s, the first at byte {} (element {}): {} on A, {} on B\n",
      launch_text(o.launch), o.output.argument, o.output.name.empty() ? "" : fmt::format(" ({})", o.output.name),
      object.empty() ? "" : ", " + object, d.differing, d.elements, element_name(o.output.type), d.offset,
      d.offset / element_bytes(o.output.type), d.expected, d.got);
}

void append_counts(std::string& out, const std::string& what, const Outcome::Counts& counts) {
  for (const auto& [text, n] : counts)
    out += fmt::format("{}: {}{}\n", what, text, n > 1 ? fmt::format(" ({} times)", n) : "");
}

std::string as_text(const OpenedTrace& opened, const AgainstOutcome& o) {
  std::string out;
  for (size_t i = 0; i < o.sides.size(); ++i) {
    out += fmt::format("{}: {}\n", Letters[i], fmt::join(o.sides[i].devices, ", "));
    append_counts(out, fmt::format("{}: not made", Letters[i]), o.sides[i].left_out);
    append_counts(out, fmt::format("{}: bridged", Letters[i]), o.sides[i].bridged);
  }
  if (!o.contents) out += "no contents were recorded (gtrace run --capture full): what was sent was zeros\n";
  if (o.unseen > 0)
    out += fmt::format("{} of the launches were not compared: they may have waited for events of the program\n",
                       o.unseen);
  const std::string amount = fmt::format("{} launch{}", o.launches, o.launches == 1 ? "" : "es");
  if (o.kind == Kind::Same)
    return out + fmt::format("{}, and no difference ({} compared)\n", amount, human_bytes(o.bytes));
  if (o.kind == Kind::OnlyOne)
    out += fmt::format("{} is made on {} only\n", launch_text(o.launch), Letters[o.side]);
  else
    out += difference_text(opened, o);
  return out + fmt::format("{} before it without a difference ({} compared)\n", amount, human_bytes(o.bytes));
}

Json as_json(const OpenedTrace& opened, const AgainstOutcome& o) {
  Json j = {{"format", "gtrace-against"}, {"version", 1},           {"contents", o.contents},
            {"launches", o.launches},     {"not_compared", o.unseen}, {"bytes", o.bytes}};
  j["result"] = o.kind == Kind::Same ? "same" : o.kind == Kind::Differs ? "differs" : "only_one";
  j["sides"] = Json::array();
  for (const StepSide& s : o.sides) {
    j["sides"].push_back({{"devices", s.devices},
                          {"not_made", Json(s.left_out)},
                          {"bridged", Json(s.bridged)}});
  }
  if (o.kind == Kind::Same) return j;
  const LaunchReport& l = o.launch;
  j["launch"] = {{"kernel", l.kernel}, {"number", l.nth}, {"thread", l.launch.thread}, {"call", l.launch.number}};
  if (o.kind == Kind::OnlyOne) {
    j["launch"]["only_on"] = Letters[o.side];
    return j;
  }
  const Difference& d = o.difference;
  j["difference"] = {{"argument", o.output.argument},
                     {"name", o.output.name},
                     {"object", object_text(opened.trace, o.output)},
                     {"offset", d.offset},
                     {"element", d.offset / element_bytes(o.output.type)},
                     {"type", element_name(o.output.type)},
                     {"differing", d.differing},
                     {"elements", d.elements},
                     {"values", {d.expected, d.got}}};
  return j;
}

}  // namespace

std::string against_report(const OpenedTrace& opened, const AgainstOutcome& outcome, bool json) {
  return json ? as_json(opened, outcome).dump(2) + "\n" : as_text(opened, outcome);
}

}  // namespace gt::tracer
