// Reads FAKE_CL_* once, at the first call.
#include "tests/fake_cl/script.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace gt::fake {
namespace {

struct Rule {
  std::string name;
  uint64_t call = 0;  // 0: every one
  int error = 0;
  uint64_t delay_ns = 0;
};

[[noreturn]] void refuse(const char* variable, const std::string& word) {
  std::fprintf(stderr, "fake_cl: %s: cannot read '%s'\n", variable, word.c_str());
  std::_Exit(2);
}

uint64_t nanoseconds(const char* variable, const std::string& text) {
  size_t end = 0;
  uint64_t value = 0;
  try {
    value = std::stoull(text, &end);
  } catch (const std::exception&) {
    refuse(variable, text);
  }
  const std::string unit = text.substr(end);
  if (unit == "ns" || unit.empty()) return value;
  if (unit == "us") return value * 1000;
  if (unit == "ms") return value * 1000000;
  if (unit == "s") return value * 1000000000;
  refuse(variable, text);
}

std::vector<Rule> read(const char* variable, bool delay) {
  std::vector<Rule> out;
  const char* text = std::getenv(variable);
  std::istringstream words(text ? text : "");
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(variable, word);
    Rule rule;
    rule.name = word.substr(0, equals);
    if (const size_t colon = rule.name.find(':'); colon != std::string::npos) {
      rule.call = std::strtoull(rule.name.c_str() + colon + 1, nullptr, 10);
      if (rule.call == 0) refuse(variable, word);
      rule.name.resize(colon);
    }
    if (delay)
      rule.delay_ns = nanoseconds(variable, word.substr(equals + 1));
    else
      rule.error = std::atoi(word.c_str() + equals + 1);
    if (!delay && rule.error == 0) refuse(variable, word);
    out.push_back(rule);
  }
  return out;
}

// At most one rule, whose name is the number of the call.
Rule rule_of_loss() {
  const std::vector<Rule> rules = read("FAKE_CL_LOST", false);
  if (rules.empty()) return {};
  Rule rule = rules.front();
  rule.call = std::strtoull(rule.name.c_str(), nullptr, 10);
  if (rules.size() > 1 || rule.call == 0) refuse("FAKE_CL_LOST", rule.name);
  return rule;
}

struct Script {
  Rule lost = rule_of_loss();
  std::vector<Rule> failures = read("FAKE_CL_FAIL", false);
  std::vector<Rule> delays = read("FAKE_CL_DELAY", true);
  bool says_failures = std::getenv("FAKE_CL_SAY") != nullptr;
  const char* kernel = std::getenv("FAKE_CL_KERNEL_NS");
  uint64_t kernel_ns = kernel ? nanoseconds("FAKE_CL_KERNEL_NS", kernel) : 1000;
  const char* vendor = std::getenv("FAKE_CL_VENDOR_ID");
  uint32_t vendor_id = vendor ? static_cast<uint32_t>(std::strtoul(vendor, nullptr, 10)) : 1;
};
const Script& script() {
  static const Script* s =
      new Script;  // never destroyed: programs call OpenCL from their exit handlers
  return *s;
}

std::atomic<uint64_t> calls[65536], all_calls;

}  // namespace

int loss() {
  const Rule& lost = script().lost;
  return lost.call && all_calls >= lost.call ? lost.error : 0;
}

int scripted_call(uint16_t fn, const char* name) {
  const Script& s = script();
  const uint64_t call = ++calls[fn];
  ++all_calls;
  for (const Rule& rule : s.delays)
    if (rule.name == name && (rule.call == 0 || rule.call == call))
      std::this_thread::sleep_for(std::chrono::nanoseconds(rule.delay_ns));
  if (const int error = loss()) return error;
  for (const Rule& rule : s.failures) {
    if (rule.name != name || (rule.call != 0 && rule.call != call)) continue;
    if (s.says_failures) std::fprintf(stderr, "fake_cl: %s fails with %d\n", name, rule.error);
    return rule.error;
  }
  return 0;
}

uint64_t kernel_ns() { return script().kernel_ns; }
uint32_t vendor_id() { return script().vendor_id; }

}  // namespace gt::fake
