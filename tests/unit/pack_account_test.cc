// When what is sent is compressed: the account of what it saves and costs.
#include "transport/chunks/pack_account.h"

#include <doctest/doctest.h>

namespace gt::chunks {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20, Piece = MiB / 4;
constexpr uint64_t times(uint64_t bytes, double ns) { return static_cast<uint64_t>(static_cast<double>(bytes) * ns); }

PackAccount at_a_link(double ns) {
  PackAccount account(Packing::automatic());
  for (int i = 0; i < 3 && account.wants_measure(); ++i) account.measured(MiB, times(MiB, ns));
  return account;
}

TEST_CASE("nothing is compressed before the link is known, nor where it is fast") {
  PackAccount account(Packing::automatic());
  CHECK(account.wants_measure());
  CHECK_FALSE(account.is_on());
  CHECK_FALSE(account.may_try());
  CHECK_FALSE(at_a_link(0.8).is_on());  // 10 Gb/s
  CHECK_FALSE(at_a_link(1.5).is_on());
  CHECK(at_a_link(8).is_on());   // 1 Gb/s
  CHECK(at_a_link(80).is_on());  // 100 Mb/s
  CHECK(at_a_link(80).level() > at_a_link(8).level());
}

TEST_CASE("where nothing is saved it costs a fiftieth of what sending costs, and some milliseconds") {
  for (const double ns : {2.5, 8.0, 80.0}) {
    PackAccount account = at_a_link(ns);
    double lost = 0, sending = 0;
    unsigned tried = 0;
    for (int i = 0; i < 40'000; ++i) {
      if (account.may_try()) {
        account.tried(Piece, Piece, 60'000, 60'000, false);
        lost += 60'000;
        ++tried;
      }
      account.sent(Piece);
      sending += static_cast<double>(Piece) * ns;
    }
    CHECK(lost < sending / 50 + 6e6);
    CHECK(tried >= 40'000 / 70);  // it goes on looking
  }
}

TEST_CASE("what pays is done to all; when it does not any more it loses little") {
  PackAccount account = at_a_link(8);
  account.sent(16 * MiB);
  while (!account.may_try()) account.sent(Piece);
  for (int i = 0; i < 1000; ++i) {
    account.tried(Piece, Piece / 2, times(Piece, 2), times(Piece, 2), false);
    account.sent(Piece / 2);
    CHECK(account.may_try());
  }
  double lost = 0;
  for (int i = 0; i < 1000; ++i)
    if (account.may_try()) {
      account.tried(Piece, Piece, times(Piece, 0.3), times(Piece, 0.3), false);
      lost += static_cast<double>(Piece) * 0.3;
    }
  CHECK(lost < 2.1e7);
}

TEST_CASE("what takes a processor longer than it saves does not pay; on an idle machine half as much counts") {
  const auto goes_on = [](bool idle) {
    PackAccount account = at_a_link(8);
    account.tried(Piece, Piece * 3 / 4, times(Piece, 3), times(Piece, 3), idle);
    return account.may_try();
  };
  CHECK(goes_on(true));
  CHECK_FALSE(goes_on(false));
}

TEST_CASE("text at 1 Gb/s pays while others want the processors, too") {
  PackAccount account = at_a_link(8);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(account.may_try());
    account.tried(Piece, Piece * 28 / 100, times(Piece, 5), times(Piece, 7), false);
    account.sent(Piece * 28 / 100);
  }
}

TEST_CASE("the link must not wait for who compresses; who is interrupted now and then may") {
  // One of so many pieces takes so long by the clock: how many are tried.
  const auto tried = [](int each, double ns) {
    PackAccount account = at_a_link(8);
    int count = 0;
    for (int i = 0; i < 400; ++i)
      if (account.may_try())
        account.tried(Piece, Piece / 100, times(Piece, 2), times(Piece, ++count % each ? 2 : ns), true);
    return count;
  };
  CHECK(tried(16, 40) == 400);
  CHECK(tried(50, 1000) > 350);
  CHECK(tried(2, 40) < 40);
  CHECK(tried(1, 10) < 40);
}

TEST_CASE("a link that was slow is measured again, soon at first") {
  PackAccount account = at_a_link(8);
  const auto due = [&account] {
    uint64_t sent = 0;
    for (; !account.wants_measure(); sent += MiB) account.sent(MiB);
    account.measured(MiB, times(MiB, 8));
    return sent;
  };
  account.tried(Piece, Piece / 100, times(Piece, 2), times(Piece, 2), true);  // most does not go at all
  CHECK(due() == 64 * MiB);
  CHECK(due() == 128 * MiB);
  for (int i = 0; i < 5; ++i) due();
  CHECK(due() == 1024 * MiB);
}

TEST_CASE("always and never") {
  PackAccount always(Packing::always(7)), never{Packing()};
  CHECK_FALSE(always.wants_measure());
  CHECK_FALSE(never.wants_measure());
  CHECK_FALSE(never.may_try());
  CHECK(always.level() == 7);
  for (int i = 0; i < 1000; ++i) {
    CHECK(always.may_try());
    always.tried(Piece, Piece, times(Piece, 100), times(Piece, 100), false);
  }
}

TEST_CASE("the number of a message") {
  CHECK(Packing(0).is_never());
  CHECK(Packing(255).is_auto());
  CHECK(Packing(19).level() == 19);
  for (int n = 20; n < 255; ++n) CHECK(Packing(static_cast<uint8_t>(n)).is_never());
}

}  // namespace
}  // namespace gt::chunks
