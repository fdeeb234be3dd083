#include "tracer/collect/timing.h"

#include <charconv>

#include <fmt/format.h>

namespace gt::tracer {

namespace {

constexpr std::string_view SamplePrefix = "sample:";
constexpr uint32_t MaxSample = 1'000'000;

struct Word {
  std::string_view text;
  TimingChoice choice;
};
constexpr Word Words[] = {{"auto", {Timing::All, 0}},
                          {"all", {Timing::All, 1}},
                          {"off", {Timing::Off, 1}},
                          {"kernels", {Timing::Kernels, 1}},
                          {"transfers", {Timing::Transfers, 1}}};

}  // namespace

std::optional<TimingChoice> parse_timing(std::string_view text) {
  for (const Word& word : Words) {
    if (word.text == text) return word.choice;
  }
  if (!text.starts_with(SamplePrefix)) return {};
  text.remove_prefix(SamplePrefix.size());
  TimingChoice choice;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), choice.sample);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || choice.sample == 0 || choice.sample > MaxSample) return {};
  return choice;
}

std::string timing_text(TimingChoice choice) {
  for (const Word& word : Words) {
    if (word.choice.timing == choice.timing && word.choice.sample == choice.sample) return std::string(word.text);
  }
  return fmt::format("{}{}", SamplePrefix, choice.sample);
}

}  // namespace gt::tracer
