// When chunks are named: the account of what it saves and costs.
#include "optimizer-rt/client/session/chunk_account.h"

#include <doctest/doctest.h>

namespace gt::virt {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20, Piece = MiB / 4;
constexpr uint64_t hash_ns(uint64_t bytes) { return bytes * 6 / 10; }
constexpr uint64_t link_ns(uint64_t bytes, double ns) { return static_cast<uint64_t>(static_cast<double>(bytes) * ns); }

ChunkAccount at_a_link(double ns) {
  ChunkAccount account(DedupMode::Auto);
  for (int i = 0; i < 3 && account.wants_measure(); ++i) account.measured(MiB, link_ns(MiB, ns));
  return account;
}

TEST_CASE("nothing is named before the link is known, nor where it is fast") {
  ChunkAccount account(DedupMode::Auto);
  CHECK(account.wants_measure());
  CHECK_FALSE(account.is_on());
  CHECK_FALSE(at_a_link(1).is_on());  // 8 Gb/s
  CHECK_FALSE(at_a_link(1).wants_measure());
  CHECK(at_a_link(2).is_on());  // 4 Gb/s
  CHECK(at_a_link(8).is_on());  // 1 Gb/s
}

TEST_CASE("one slow chunk does not make a link slow") {
  ChunkAccount account(DedupMode::Auto);
  account.measured(MiB, link_ns(MiB, 7));
  CHECK_FALSE(account.is_on());
  CHECK(account.wants_measure());
  account.measured(MiB, link_ns(MiB, 0.5));
  CHECK_FALSE(account.wants_measure());
  CHECK_FALSE(account.is_on());
}

TEST_CASE("a link is measured again, and may turn out to be another") {
  ChunkAccount account = at_a_link(8);
  for (uint64_t sent = 0; sent < 64 * MiB; sent += MiB) account.sent(MiB);
  REQUIRE(account.wants_measure());
  account.measured(MiB, link_ns(MiB, 0.5));
  CHECK_FALSE(account.is_on());
  for (uint64_t sent = 0; sent < 256 * MiB; sent += MiB) account.sent(MiB);
  CHECK(account.wants_measure());
}

TEST_CASE("where nothing is found naming costs a fiftieth of what sending costs, and 5 ms") {
  for (const double ns : {2.0, 8.0, 80.0}) {
    ChunkAccount account = at_a_link(ns);
    double lost = 0, sending = 0;
    for (int i = 0; i < 40'000; ++i) {
      if (account.may_name()) {
        account.named(Piece, hash_ns(Piece), false);
        lost += static_cast<double>(hash_ns(Piece));
      }
      account.sent(Piece);
      sending += static_cast<double>(Piece) * ns;
    }
    CHECK(lost < sending / 50 + 5.5e6);
    CHECK(lost > sending / 200);  // it goes on looking
  }
}

TEST_CASE("as soon as something is found all is named; when nothing is any more it loses little") {
  ChunkAccount account = at_a_link(8);
  while (account.may_name()) account.named(Piece, hash_ns(Piece), false);
  account.sent(16 * MiB);
  REQUIRE(account.may_name());
  for (int i = 0; i < 1000; ++i) {
    CHECK(account.may_name());
    account.named(Piece, hash_ns(Piece), true);
  }
  uint64_t lost = 0;
  while (account.may_name()) {
    account.named(Piece, hash_ns(Piece), false);
    lost += hash_ns(Piece);
  }
  CHECK(lost < 21'000'000);
}

TEST_CASE("what the proxy lacks takes back what it was thought to save") {
  ChunkAccount account = at_a_link(8);
  for (int i = 0; i < 1000 && account.may_name(); ++i) {
    account.named(Piece, hash_ns(Piece), true);
    account.missed(Piece);
  }
  CHECK_FALSE(account.may_name());
}

TEST_CASE("half of the room is filled without anything found, then nothing is kept until something is") {
  ChunkAccount account = at_a_link(8);
  CHECK_FALSE(account.may_keep(MiB));
  account.set_room(100 * MiB);
  uint64_t kept = 0;
  while (account.may_keep(MiB)) kept += MiB;
  CHECK(kept == 50 * MiB);
  account.set_room(100 * MiB);  // told again
  CHECK_FALSE(account.may_keep(MiB));
  for (int i = 0; i < 8; ++i) account.named(Piece, hash_ns(Piece), true);
  CHECK(account.may_keep(MiB));
}

TEST_CASE("always and never") {
  ChunkAccount always(DedupMode::Always), never(DedupMode::Never);
  CHECK_FALSE(always.wants_measure());
  CHECK_FALSE(never.wants_measure());
  CHECK_FALSE(never.is_on());
  for (int i = 0; i < 10'000; ++i) always.named(Piece, hash_ns(Piece), false);
  CHECK(always.may_name());
  CHECK_FALSE(always.may_keep(Piece));
  always.set_room(MiB);
  for (int i = 0; i < 100; ++i) CHECK(always.may_keep(Piece));
}

}  // namespace
}  // namespace gt::virt
