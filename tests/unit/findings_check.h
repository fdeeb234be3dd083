// What the tests of rules share: the findings of a program, and the program that most of them vary.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "analyzer/rules/find_all.h"
#include "tests/unit/rule_trace.h"

namespace gt::testing {

using analyzer::Finding;

constexpr int64_t MiB = 1 << 20;
constexpr int Times = 100;

inline analyzer::FoundAll found_in(const Trace& trace, const Platform* platform = nullptr) {
  analyzer::CallSites sites;
  const auto ratio = analyzer::find_dispatch_ratio(trace, 0.1, sites);
  const auto sources = analyzer::find_transfer_sources(trace, sites).list;
  const auto kernels = analyzer::find_kernels(trace);
  auto found = analyzer::find_all(trace, ratio, analyzer::find_run_parts(trace, platform), sources, kernels,
                                  recorded_effects(trace), platform, sites);
  // Every program here sends from ordinary memory: that rule has tests of its own (analyzer_test.cc).
  std::erase_if(found.findings, [](const Finding& f) { return f.rule == "pageable-transfers"; });
  return found;
}

// The only finding of a program; it must be of this rule.
inline Finding only(const Trace& trace, const std::string& rule) {
  const auto found = found_in(trace);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].rule == rule);
  CHECK_FALSE(found.findings[0].advice.empty());
  CHECK_FALSE(found.findings[0].basis.empty());
  return found.findings[0];
}

inline void check_none(const Trace& trace) {
  for (const Finding& f : found_in(trace).findings) FAIL_CHECK(f.rule << ": " << f.evidence);
}

inline double seconds(const Finding& f) { return f.saving_s.value_or(-1); }
inline const auto about = [](double s) { return doctest::Approx(s).epsilon(0.05); };

// Host memory, a buffer and a kernel that only reads it: what most programs here begin with.
struct Program : RuleTrace {
  Object host, b, k;
  Program() {
    host = allocate(8 * MiB);
    at_place(0x2000);
    b = buffer(8 * MiB);
    at_place(0x3000);
    k = kernel();
    at_place(0x4000);
  }
  void use() { launch(k, {{b, Effect::Use}}); }
};

}  // namespace gt::testing
