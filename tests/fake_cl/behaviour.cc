// Reads FAKE_CL_* once, at the first call.
#include "tests/fake_cl/behaviour.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>

namespace gt::fake {
namespace {

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

Behaviour from_environment() {
  Behaviour b;
  b.lost = rule_of_loss();
  b.failures = read("FAKE_CL_FAIL", false);
  b.delays = read("FAKE_CL_DELAY", true);
  b.says_failures = std::getenv("FAKE_CL_SAY") != nullptr;
  if (const char* ns = std::getenv("FAKE_CL_KERNEL_NS")) b.kernel_ns = nanoseconds("FAKE_CL_KERNEL_NS", ns);
  if (const char* id = std::getenv("FAKE_CL_VENDOR_ID"))
    b.vendor_id = static_cast<uint32_t>(std::strtoul(id, nullptr, 10));
  if (const char* bytes = std::getenv("FAKE_CL_LARGEST")) b.largest_buffer = std::strtoull(bytes, nullptr, 10);
  const char* where = std::getenv("FAKE_CL_CALLBACKS");
  b.calls_back_on_threads = where && std::string_view(where) == "thread";
  const char* native = std::getenv("FAKE_CL_NATIVE");
  b.gives_native_pointers = native && std::string_view(native) == "pointer";
  b.has_later_forms = std::getenv("FAKE_CL_LATER_FORMS") != nullptr;
  b.leaves_events = std::getenv("FAKE_CL_LEAVES_EVENTS") != nullptr;
  b.is_newer = std::getenv("FAKE_CL_NEWER") != nullptr;
  const std::string_view odd = built_in();
  if (odd == "crash") b.start = Behaviour::Start::Crashes;
  if (odd == "hang") b.start = Behaviour::Start::Hangs;
  if (odd == "empty") b.devices = 0;
  return b;
}

std::atomic<uint64_t> calls[65536], all_calls;

}  // namespace

[[gnu::weak]] const char* built_in() { return ""; }

std::atomic<int> made_calls{0}, refuse_at{-1};

Behaviour& behaviour() {
  static auto& b = *new Behaviour(from_environment());  // never destroyed: programs call OpenCL from exit handlers
  return b;
}

int loss() {
  const Rule& lost = behaviour().lost;
  return lost.call && all_calls >= lost.call ? lost.error : 0;
}

bool refuse() { return made_calls++ == refuse_at; }

int begin_call(uint16_t fn, const char* name) {
  const Behaviour& b = behaviour();
  const uint64_t call = ++calls[fn];
  ++all_calls;
  for (const Rule& rule : b.delays)
    if (rule.name == name && (rule.call == 0 || rule.call == call))
      std::this_thread::sleep_for(std::chrono::nanoseconds(rule.delay_ns));
  if (const int error = loss()) return error;
  for (const Rule& rule : b.failures) {
    if (rule.name != name || (rule.call != 0 && rule.call != call)) continue;
    if (b.says_failures) std::fprintf(stderr, "fake_cl: %s fails with %d\n", name, rule.error);
    return rule.error;
  }
  const std::string_view function = name;
  constexpr int OutOfResources = -5;
  return (function.starts_with("clCreate") || function.starts_with("clEnqueue")) && refuse() ? OutOfResources : 0;
}

uint64_t calls_of(api::FnId fn) { return calls[static_cast<uint16_t>(fn)]; }

void start_anew() {
  behaviour() = {};
  for (std::atomic<uint64_t>& count : calls) count = 0;
  all_calls = 0;
  made_calls = 0;
  refuse_at = -1;
}

}  // namespace gt::fake
