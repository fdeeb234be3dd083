// Calls that are only counted: the table that a thread fills, what the collector makes of it, and the trace's facts.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>

#include "tracer/collect/counted_calls.h"
#include "tracer/collect/session.h"
#include "tracer/lib/call_counter.h"
#include "traces/model/folded/memory_detail.h"

using namespace gt;
using namespace gt::tracer;
using api::AllocFn;

namespace {

constexpr uint16_t number(AllocFn fn) { return static_cast<uint16_t>(fn); }
constexpr uint16_t Malloc = number(AllocFn::Malloc), Free = number(AllocFn::Free);

}  // namespace

TEST_CASE("a key holds function, place and size class") {
  const uint64_t key = count_key(number(AllocFn::Sbrk), 0x7fffdeadbeef, size_class(~uint64_t{0}));
  CHECK(fn_in(key) == number(AllocFn::Sbrk));
  CHECK(site_in(key) == 0x7fffdeadbeef);
  CHECK(size_class_in(key) == 64);
  CHECK(size_class(0) == 0);
  CHECK(size_class(1) == 1);
  CHECK(size_class(4095) == 12);
  CHECK(size_class(4096) == 13);
}

TEST_CASE("places beyond the table's room are counted as others, and no call is lost") {
  auto counts = std::make_unique<CallCounts>();
  t_counts = counts.get();
  constexpr uint64_t Places = 3 * CallCounts::Rows;
  for (uint64_t round = 0; round < 2; ++round) {
    for (uint64_t i = 1; i <= Places; ++i) CHECK(counts_small(Malloc, 0x400000 + 16 * i, 100));
  }
  leave_counts();
  uint64_t calls = 0, bytes = 0, rows = 0;
  for (const CallCount& row : counts->rows) {
    if (row.key == 0) continue;
    ++rows;
    CHECK(row.calls == 2);
    calls += row.calls;
    bytes += row.bytes;
  }
  CHECK(rows > CallCounts::Rows / 2);
  CHECK(counts->others.calls > 0);
  CHECK(calls + counts->others.calls == 2 * Places);
  CHECK(bytes + counts->others.bytes == 200 * Places);
  clear(*counts);
  for (const CallCount& row : counts->rows) CHECK(row.key + row.calls + row.bytes == 0);
  CHECK(counts->others.calls == 0);
}

TEST_CASE("tables of several threads are added up, of helpers only their number is kept") {
  TraceTables tables;
  CountedCalls counted(tables);
  std::vector<std::unique_ptr<TracedProcess>> processes;
  for (uint32_t i = 0; i < 2; ++i)
    processes.push_back(std::make_unique<TracedProcess>(i, 100 + i, tables.trace.modules));
  for (const auto& process : processes) {
    process->modules.add(0x400000, 0x500000, "/app", "");
    for (int thread = 0; thread < 3; ++thread) {
      auto counts = std::make_unique<CallCounts>();
      t_counts = counts.get();
      for (int i = 0; i < 10; ++i) CHECK(counts_small(Malloc, 0x401000, static_cast<uint64_t>(8 << thread)));
      CHECK(counts_given(Free, 0x402000, nullptr));
      counts->others.calls = 5;
      leave_counts();
      counted.take(*process, *counts);
    }
  }
  uint64_t helpers = 0;
  model::MemoryDetail detail =
      counted.rows([](const TracedProcess& process) { return process.index == 0; }, helpers);
  CHECK(helpers == 3 * (10 + 1 + 5));
  CHECK(detail.calls() == 3 * (10 + 1 + 5));
  CHECK(detail.other_calls == 15);
  REQUIRE(detail.rows.size() == 4);
  CHECK(detail.rows[0].fn == Malloc);
  CHECK(detail.rows[0].size_from() == 8);
  CHECK(detail.rows[2].bytes == 10 * 32);
  CHECK(detail.rows[3].fn == Free);
  CHECK(detail.rows[3].calls == 3);
  CHECK(tables.trace.sites[detail.rows[0].site].offset == 0x1000);

  detail.from = 4096;
  detail.whole_processes = 1;
  model::add_detail_facts(tables.trace, detail);
  const auto read = model::read_memory_detail(tables.trace);
  REQUIRE(read);
  CHECK(read->from == 4096);
  CHECK(read->rows == detail.rows);
  CHECK(read->other_calls == 15);
  CHECK(read->whole_processes == 1);
}

TEST_CASE("facts that make no sense are passed over") {
  model::Trace trace;
  CHECK(!model::read_memory_detail(trace));
  trace.sites.emplace_back();
  trace.facts = {{"memory_detail.from", "4096"}, {"counted.0.malloc", "5 7 100\n6 x"}, {"counted.1.malloc", "5 7 100"},
                 {"counted.0.nothing", "5 7 100"}, {"counted.0.free", "200 1 1"}, {"counted.", ""},
                 {"counted.?.free", "0 2 0"}};
  const auto read = model::read_memory_detail(trace);
  REQUIRE(read);
  CHECK(read->rows == std::vector<model::CountedRow>{{0, Malloc, 5, 7, 100}, {model::NoIndex, Free, 0, 2, 0}});
}

TEST_CASE("a realloc is held back exactly while both its blocks seem small") {
  detail::g_listed_from = 4096;
  auto counts = std::make_unique<CallCounts>();
  t_counts = counts.get();
  void* const small = std::malloc(100);
  void* const large = std::malloc(10'000);
  const uint64_t words[] = {1, 2};
  ResizedBlock block;
  CHECK(block.holds_back(nullptr, 100, words));
  CHECK(block.held_back());
  CHECK(block.is_counted(Malloc, 0x1000, small, 100));
  CHECK(block.holds_back(small, 100, words));
  CHECK_FALSE(block.is_counted(Malloc, 0x1000, large, 100));  // it became a large one all the same
  CHECK_FALSE(block.holds_back(small, 5000, words));
  CHECK_FALSE(block.leaves_list(large));
  CHECK_FALSE(block.holds_back(large, 10, words));
  CHECK(block.leaves_list(small));
  CHECK_FALSE(block.leaves_list(small));
  std::free(small);
  std::free(large);
  leave_counts();
  detail::g_listed_from = 0;
}
