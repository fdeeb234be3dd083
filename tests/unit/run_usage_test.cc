// What a run took, and fresh memory of transfers, as facts; and how the recorder and gtrace find them out.
#include "traces/model/folded/run_usage.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <sys/mman.h>

#include <cstring>

#include "tests/unit/sample_trace.h"
#include "tracer/gtrace/record/touch_costs.h"
#include "tracer/lib/fresh_memory.h"

using namespace gt;
using namespace gt::testing;
using tracer::fresh_bytes;

namespace {

struct Mapped {
  size_t bytes;
  char* data;
  explicit Mapped(size_t n)
      : bytes(n),
        data(static_cast<char*>(mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(data != MAP_FAILED);
    madvise(data, n, MADV_NOHUGEPAGE);
  }
  ~Mapped() { munmap(data, bytes); }
};

}  // namespace

TEST_CASE("the facts of a run are read as they were written") {
  Trace t = paper_loop(10);
  CHECK_FALSE(model::read_run_usage(t));
  CHECK_FALSE(model::read_touch_costs(t));
  const model::RunUsage usage{2'000'000'000, 1'400'000'000, 500'000'000, 271'549, 1};
  const std::map<model::ShapeId, model::FreshBytes> fresh = {{0, {4096, 0}}, {2, {1 << 20, 1 << 19}}};
  model::add_run_facts(t, usage, {1137, 69'273});
  model::add_fresh_facts(t, fresh);
  CHECK(model::read_run_usage(t) == usage);
  CHECK(model::read_touch_costs(t) == model::TouchCosts{1137, 69'273});
  CHECK(model::read_fresh(t) == fresh);
}

TEST_CASE("what was not measured is absent") {
  Trace t = paper_loop(10), ordinary = t;
  model::add_run_facts(t, {1, 0, 0, 0, 0}, {});
  model::add_run_facts(ordinary, {1, 0, 0, 0, 0}, {900, std::nullopt});
  CHECK_FALSE(model::read_touch_costs(t));
  CHECK(model::read_touch_costs(ordinary) == model::TouchCosts{900, std::nullopt});
}

TEST_CASE("facts of fresh memory that make no sense are passed over") {
  Trace t = paper_loop(10);
  for (const auto& [name, value] : {std::pair{"fresh.", "1 1"}, {"fresh.x", "1 1"}, {"fresh.99999", "1 1"},
                                    {"fresh.0", "1"}, {"fresh.0", "a 1"}, {"fresh.1", "1 1 1"}, {"fresh.1", "-1 0"}})
    t.facts.emplace_back(name, value);
  CHECK(model::read_fresh(t).empty());
  t.facts.emplace_back("fresh.2", "100 200");
  CHECK(model::read_fresh(t).at(2) == model::FreshBytes{100, 100});
}

TEST_CASE("memory is fresh until it is touched") {
  const Mapped m(8 << 20);
  CHECK(fresh_bytes(m.data, m.bytes) == m.bytes);
  std::memset(m.data + m.bytes / 2, 1, m.bytes / 2);
  const uint64_t half = fresh_bytes(m.data, m.bytes).value_or(0);
  CHECK(half >= m.bytes * 3 / 8);
  CHECK(half <= m.bytes * 5 / 8);
  std::memset(m.data, 1, m.bytes);
  CHECK(fresh_bytes(m.data, m.bytes) == 0);
  CHECK(fresh_bytes(m.data + 123, m.bytes - 456) == 0);
}

TEST_CASE("memory that is not there is not known, and errno stays") {
  const Mapped m(4 << 20);
  REQUIRE(munmap(m.data + (2 << 20), 2 << 20) == 0);
  errno = 77;
  CHECK_FALSE(fresh_bytes(m.data, m.bytes));
  CHECK_FALSE(fresh_bytes(reinterpret_cast<void*>(~uintptr_t{0} - 4096), 2 << 20));
  CHECK(errno == 77);
}

TEST_CASE("a first touch costs something, and less for each byte of a huge page") {
  const model::TouchCosts costs = tracer::measure_touch_costs();
  CHECK(costs.page_ns > 0);
  CHECK(costs.page_ns < 1'000'000);
  if (costs.huge_page_ns) CHECK(*costs.huge_page_ns < costs.page_ns * (model::HugePageBytes / model::PageBytes));
}
