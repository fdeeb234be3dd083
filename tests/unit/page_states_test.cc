// States of pages, in blocks and one by one.
#include "optimizer-rt/client/pages/page_states.h"

#include <vector>

#include <doctest/doctest.h>

using namespace gt;
using virt::PageState;

TEST_CASE("the states of pages, their counts and runs, beside a plain list of them") {
  constexpr size_t Pages = 3 * virt::PageStates::Block + 77;
  virt::PageStates states;
  REQUIRE(states.make(Pages));
  std::vector<PageState> plain(Pages, PageState::Fresh);
  uint64_t seed = 28;
  const auto random = [&seed](size_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(seed >> 33) % below;
  };
  for (int round = 0; round < 3000; ++round) {
    const size_t begin = random(Pages), end = begin + 1 + random(round % 3 ? 9 : Pages - begin);
    const auto state = static_cast<PageState>(random(4));
    states.set(begin, std::min(end, Pages), state);
    for (size_t i = begin; i < std::min(end, Pages); ++i) plain[i] = state;
    size_t counts[4] = {}, borders = 0;
    const auto open = [&](size_t i) { return plain[i] == PageState::Fresh || plain[i] == PageState::Dirty; };
    for (size_t i = 0; i < Pages; ++i) {
      ++counts[static_cast<size_t>(plain[i])];
      borders += i > 0 && plain[i] != plain[i - 1] && !(open(i) && open(i - 1));
    }
    for (size_t s = 0; s < 4; ++s) REQUIRE(states.count(static_cast<PageState>(s)) == counts[s]);
    REQUIRE(states.borders() == borders);
    const size_t page = random(Pages);
    REQUIRE(states.at(page) == plain[page]);
    size_t run = page;
    while (run < Pages && plain[run] == plain[page]) ++run;
    REQUIRE(states.run_end(page, Pages) == run);
    size_t found = page;
    while (found < Pages && plain[found] != state) ++found;
    REQUIRE(states.find(state, page, Pages) == found);
  }
}
