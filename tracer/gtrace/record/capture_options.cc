#include "tracer/gtrace/record/capture_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "tracer/gtrace/base/units.h"

namespace gt::tracer {

namespace {

// A number from 1 on, of all of the text.
bool number(std::string_view text, uint64_t& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size() && out > 0;
}

Status parse_kernel(const std::string& text, CaptureChoice& choice) {
  const size_t mark = text.rfind('#');
  const std::string name = text.substr(0, mark);
  choice.nth = 1;
  if (name.empty() || (mark != std::string::npos && !number(std::string_view(text).substr(mark + 1), choice.nth)))
    return {Kind::Invalid, fmt::format("--capture-kernel {}: not NAME#N, the N-th launch of a kernel", text)};
  if (name.size() >= sizeof choice.kernel)
    return {Kind::Invalid, fmt::format("--capture-kernel: the name has {} characters, more than {}", name.size(),
                                       sizeof choice.kernel - 1)};
  choice.part = CapturePart::Kernel;
  name.copy(choice.kernel, name.size());
  return {};
}

Status parse_range(const std::string& text, CaptureChoice& choice) {
  const size_t dots = text.find("..");
  const std::string_view view = text;
  const bool range = dots != std::string::npos;
  if (!number(view.substr(0, dots), choice.first) ||
      !number(range ? view.substr(dots + 2) : view, choice.last) || choice.first > choice.last)
    return {Kind::Invalid,
            fmt::format("--capture-range {}: not A..B, numbers of calls as gtrace expand prints them", text)};
  choice.part = CapturePart::Range;
  return {};
}

uint64_t count(const model::Trace& trace, const char* name) {
  const std::string_view text = trace.fact(name);
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The names of the kernels that were made, some of them.
std::string kernels_of(const model::Trace& trace) {
  constexpr size_t Most = 12;
  std::vector<std::string> names;
  for (const model::Kernel& k : trace.kernels) {
    if (std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
  }
  if (names.empty()) return "it made none";
  const size_t told = std::min(names.size(), Most);
  return fmt::format("it has {}{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(told), ", "),
                     told < names.size() ? ", ..." : "");
}

// Why nothing was kept.
std::string never_came(const model::Trace& trace, const std::string& part) {
  const uint64_t chosen = count(trace, "capture.chosen");
  if (!part.starts_with("kernel "))
    return fmt::format("nothing was captured: --capture-range {} never came", part.substr(part.find(' ') + 1));
  const std::string wanted = part.substr(part.find(' ') + 1), name = wanted.substr(0, wanted.rfind('#'));
  const bool made = std::any_of(trace.kernels.begin(), trace.kernels.end(),
                                [&](const model::Kernel& k) { return k.name == name; });
  if (!made) return fmt::format("nothing was captured: the program has no kernel {}; {}", name, kernels_of(trace));
  return fmt::format("nothing was captured: {} was launched {} times, so there is no {}", name, chosen, wanted);
}

}  // namespace

Status capture_options(const Options& options, SpoolReader::Options& spool) {
  const std::string capture = options.text("capture"), kernel = options.text("capture-kernel"),
                    range = options.text("capture-range");
  spool.capture = capture == "full" ? Capture::Full : capture == "hash" ? Capture::Hash : Capture::None;
  spool.choice.results = options.flag("capture-results");
  if (!kernel.empty() && !range.empty())
    return {Kind::Invalid, "--capture-kernel and --capture-range: only one of them at a time"};
  const bool part = !kernel.empty() || !range.empty();
  if (part && spool.capture == Capture::Hash)
    return {Kind::Invalid, "--capture hash keeps no data: leave it out, --capture-kernel and --capture-range keep what "
                           "they name"};
  if (!kernel.empty()) GT_TRY(parse_kernel(kernel, spool.choice));
  if (!range.empty()) GT_TRY(parse_range(range, spool.choice));
  if (part) spool.capture = Capture::Full;
  if (spool.choice.results && spool.capture != Capture::Full)
    return {Kind::Invalid, "--capture-results goes with --capture full"};
  return {};
}

std::string capture_line(const model::Trace& trace) {
  const std::string part(trace.fact("capture.part"));
  const uint64_t before = count(trace, "device_contents.before"), after = count(trace, "device_contents.after");
  const uint64_t unread = count(trace, "lost.device_contents_before") + count(trace, "lost.device_contents_after");
  if (part.empty() && before + after + unread == 0) return {};
  if (!part.empty() && trace.fact("device_contents.before").empty()) return never_came(trace, part);
  std::string text = part.empty() ? "results of kernels" : part;
  text += ":";
  if (!part.empty())
    text += fmt::format(" {} inputs, {}, and", before, human_bytes(count(trace, "device_contents.before_bytes")));
  text += fmt::format(" {} results, {}, were read back; reading and keeping took the program {}", after,
                      human_bytes(count(trace, "device_contents.after_bytes")),
                      human_ns(count(trace, "overhead.capture_ns")));
  if (unread > 0) text += fmt::format("; {} could not be read", unread);
  if (const uint64_t left_out = count(trace, "lost.device_contents_left_out"); left_out > 0)
    text += fmt::format("; {} of them were left out, the first: {}", left_out,
                        trace.fact("device_contents.first_left_out"));
  return text;
}

}  // namespace gt::tracer
