// Every kind of link, both ends started, for the conformance suite.
#pragma once

#include <doctest/doctest.h>

#include "tests/unit/link/link_log.h"
#include "tests/unit/link/link_pairs.h"

namespace gt::wire {

// Both ends started, with a log each. Ends are closed before the logs go.
struct Started {
  LinkLog at_a, at_b;
  LinkPair pair;

  explicit Started(const LinkKind& kind, LinkOptions options = {}) : pair(make_pair(kind, options)) {
    REQUIRE(pair.a->start(at_a).ok());
    REQUIRE(pair.b->start(at_b).ok());
  }
  ~Started() {
    pair.a->close();
    pair.b->close();
    pair.a.reset();
    pair.b.reset();
    CHECK_FALSE(at_a.called_after_closed());
    CHECK_FALSE(at_b.called_after_closed());
    CHECK(at_a.ends().size() == 1);
    CHECK(at_b.ends().size() == 1);
  }
  Link& a() { return *pair.a; }
  Link& b() { return *pair.b; }
};

#define FOR_EACH_LINK(kind)               \
  for (const LinkKind& kind : link_kinds()) \
  DOCTEST_SUBCASE(kind.name)

}  // namespace gt::wire
