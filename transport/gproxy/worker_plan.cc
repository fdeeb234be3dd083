#include "transport/gproxy/worker_plan.h"

#include <fmt/format.h>

#include <charconv>

namespace gt::proxy {
namespace {

// Every field with its name: one list for both directions.
template <class Plan, class Visit>
void each_field(Plan& plan, Visit visit) {
  visit("devices", plan.devices);
  visit("memory", plan.memory_bytes);
  visit("objects", plan.objects);
  visit("build-seconds", plan.build_seconds);
  visit("in-flight", plan.in_flight_bytes);
  visit("token-file", plan.token_file);
  visit("cert", plan.cert);
  visit("key", plan.key);
  visit("ca", plan.ca);
  visit("shm", plan.shm);
  visit("store", plan.store_bytes);
  visit("temporary", plan.temporary);
}

std::string text_of(uint64_t number) { return std::to_string(number); }
std::string text_of(const std::string& text) { return text; }
std::string text_of(const std::vector<unsigned>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read(std::string_view text, uint64_t& number) { return read_number(text, number); }
bool read(std::string_view text, std::string& out) {
  out = text;
  return true;
}
bool read(std::string_view text, std::vector<unsigned>& numbers) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (!read_number(text.substr(0, end), numbers.emplace_back())) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

std::vector<std::string> to_words(const WorkerPlan& plan) {
  std::vector<std::string> words;
  each_field(plan, [&](const char* name, const auto& field) {
    words.push_back(fmt::format("{}={}", name, text_of(field)));
  });
  return words;
}

Result<WorkerPlan> plan_from_words(const std::vector<std::string>& words) {
  WorkerPlan plan;
  for (const std::string& word : words) {
    bool known = false;
    each_field(plan, [&](const std::string& name, auto& field) {
      if (word.starts_with(name + "=")) known = read(std::string_view(word).substr(name.size() + 1), field);
    });
    if (!known) return Status(Kind::Invalid, "gproxy starts its workers itself; see gproxy serve --help");
  }
  return plan;
}

}  // namespace gt::proxy
