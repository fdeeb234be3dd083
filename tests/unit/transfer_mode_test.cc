// How bytes travel between client and executor: every mode, every threshold from both sides, and no mode whose
// condition does not hold.
#include "optimizer-rt/client/transfer/transfer_mode.h"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "optimizer-rt/client/session/bounce_buffer.h"
#include "transport/protocol/messages.h"

using gt::virt::BounceBuffer, gt::virt::TransferFacts, gt::virt::TransferMode;
using enum gt::virt::TransferMode;

// Found by doctest beside the type.
namespace gt::virt {
static doctest::String toString(TransferMode mode) {
  constexpr const char* Names[] = {"Inline", "InPlace", "Ring", "SharedCopy", "Stream", "StreamCopy"};
  return Names[static_cast<size_t>(mode)];
}
}  // namespace gt::virt

namespace {

constexpr size_t KiB = 1024, MiB = 1024 * KiB;

struct Case {
  const char* what;
  TransferFacts facts;
  TransferMode mode;
};
using Choose = TransferMode (*)(const TransferFacts&);

void check(const std::vector<Case>& cases, Choose choose, size_t modes) {
  std::set<TransferMode> reached;
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(choose(c.facts) == c.mode);
    reached.insert(c.mode);
  }
  CHECK(reached.size() == modes);
}

TransferFacts random_facts(std::mt19937& random) {
  constexpr size_t Edges[] = {0, 4 * KiB, 16 * KiB, 64 * KiB, 4 * MiB, 64 * MiB};
  const auto coin = [&] { return random() % 2 == 0; };
  TransferFacts f;
  f.bytes = Edges[random() % 6];
  if (coin()) f.bytes += random() % 3;
  else if (f.bytes > 0) f.bytes -= random() % 3;
  for (bool* fact : {&f.shares_memory, &f.has_event, &f.dense, &f.faults, &f.end_known, &f.deferred, &f.maps_program,
                     &f.ring, &f.maps_copy})
    *fact = coin();
  return f;
}

void each_random(const std::function<void(const TransferFacts&)>& check_one) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const TransferFacts f = random_facts(random);
    CAPTURE(f.bytes);
    check_one(f);
  }
}

// What a mode needs, whoever asks.
void check_needs(const TransferFacts& f, TransferMode mode) {
  if (mode == Inline) CHECK(f.bytes <= gt::wire::LargestInline);
  if (mode == InPlace) CHECK((f.dense && f.maps_program));
  if (mode == Ring) CHECK((f.ring && f.bytes <= BounceBuffer::Largest));
  if (mode == SharedCopy) CHECK(f.maps_copy);
  if (mode == Stream) CHECK(f.dense);
}
void check_straight(const TransferFacts& f, TransferMode mode) {
  if (mode == InPlace || mode == Stream) CHECK((f.dense && !f.faults && !f.deferred));
  if (mode != Inline && mode != Ring) CHECK(f.bytes > gt::wire::LargestInline);
}

// What the client does when a mode turns out not to be possible. False: it always is.
bool rule_out(TransferFacts& f, TransferMode mode) {
  if (mode == InPlace) f.maps_program = false;
  if (mode == Ring) f.ring = false;
  if (mode == SharedCopy) f.maps_copy = false;
  return mode == InPlace || mode == Ring || mode == SharedCopy;
}
// The same of a read that must land late, as is found out when it would go straight.
bool rule_out_late(TransferFacts& f, TransferMode mode) {
  if (mode != InPlace && mode != Stream) return rule_out(f, mode);
  f.deferred = true;
  return true;
}

}  // namespace

TEST_CASE("the limits that the documents name") {
  CHECK(gt::wire::LargestInline == 64 * KiB);
  CHECK(BounceBuffer::Largest == 4 * MiB);
  CHECK(gt::virt::largest_inline_write(false) == 64 * KiB);
  CHECK(gt::virt::largest_inline_write(true) == 16 * KiB);
  CHECK(gt::virt::largest_inline_read(false) == 64 * KiB);
  CHECK(gt::virt::largest_inline_read(true) == 4 * KiB);
}

TEST_CASE("writes: every mode, and each threshold from both sides") {
  check(
      {
          {"nothing", {.bytes = 0}, Inline},
          {"over a network, the largest in a message", {.bytes = 64 * KiB, .maps_program = false}, Inline},
          {"one more", {.bytes = 64 * KiB + 1, .maps_program = false}, Stream},
          {"inside a process, small", {.bytes = 64 * KiB}, Inline},
          {"inside a process", {.bytes = 64 * KiB + 1}, InPlace},
          {"node, the largest in a message", {.bytes = 16 * KiB, .shares_memory = true, .ring = true}, Inline},
          {"one more", {.bytes = 16 * KiB + 1, .shares_memory = true, .ring = true}, Ring},
          {"one more, no room", {.bytes = 16 * KiB + 1, .shares_memory = true}, Inline},
          {"one more, no event", {.bytes = 16 * KiB + 1, .shares_memory = true, .has_event = false, .ring = true},
           Inline},
          {"not in place", {.bytes = 64 * KiB, .shares_memory = true, .ring = true}, Ring},
          {"from here on", {.bytes = 64 * KiB + 1, .shares_memory = true, .ring = true}, InPlace},
          {"in place at any size", {.bytes = 64 * MiB, .shares_memory = true, .ring = true}, InPlace},
          {"not without an event", {.bytes = 1 * MiB, .shares_memory = true, .has_event = false, .ring = true}, Stream},
          {"not rows", {.bytes = 1 * MiB, .shares_memory = true, .dense = false, .ring = true}, Ring},
          {"not what a handler fills", {.bytes = 1 * MiB, .shares_memory = true, .faults = true, .ring = true}, Ring},
          {"the largest in the ring", {.bytes = 4 * MiB, .shares_memory = true, .maps_program = false, .ring = true},
           Ring},
          {"one more", {.bytes = 4 * MiB + 1, .shares_memory = true, .maps_program = false, .ring = true}, Stream},
          {"rows, too large for the ring", {.bytes = 4 * MiB + 1, .shares_memory = true, .dense = false, .ring = true},
           SharedCopy},
          {"rows, no room", {.bytes = 1 * MiB, .shares_memory = true, .dense = false}, SharedCopy},
          {"a handler fills, no room", {.bytes = 1 * MiB, .faults = true}, SharedCopy},
          {"rows, nothing mapped", {.bytes = 1 * MiB, .dense = false, .maps_copy = false}, StreamCopy},
          {"rows, no event", {.bytes = 1 * MiB, .has_event = false, .dense = false, .ring = true}, StreamCopy},
          {"small rows", {.bytes = 16 * KiB, .shares_memory = true, .dense = false, .ring = true}, Inline},
      },
      gt::virt::choose_write, 6);
}

TEST_CASE("writes of bytes that are still to come: every mode, and when there is none") {
  check(
      {
          {"in place, small as it may be", {.bytes = 1}, InPlace},
          {"in place, though a handler fills it", {.bytes = 1 * MiB, .faults = true}, InPlace},
          {"not in place", {.bytes = 1, .maps_program = false, .ring = true}, Stream},
          {"rows", {.bytes = 4 * MiB, .dense = false, .ring = true}, Ring},
          {"rows, too large for the ring", {.bytes = 4 * MiB + 1, .dense = false, .ring = true}, SharedCopy},
          {"rows, no room", {.bytes = 1, .dense = false}, SharedCopy},
          {"rows, nothing mapped", {.bytes = 1, .dense = false, .maps_copy = false}, StreamCopy},
          {"nobody says when", {.bytes = 1, .end_known = false}, InPlace},
          {"nobody says when, rows", {.bytes = 1, .dense = false, .end_known = false, .ring = true}, Ring},
      },
      [](const TransferFacts& f) { return gt::virt::choose_late_write(f).value(); }, 5);  // all but Inline
  CHECK(!gt::virt::choose_late_write({.bytes = 1, .end_known = false, .maps_program = false, .ring = true}));
  CHECK(!gt::virt::choose_late_write({.bytes = 1, .dense = false, .end_known = false, .maps_copy = false}));
}

TEST_CASE("reads: every mode, and each threshold from both sides") {
  check(
      {
          {"nothing", {.bytes = 0}, Inline},
          {"over a network, the largest in a message", {.bytes = 64 * KiB, .maps_program = false}, Inline},
          {"one more", {.bytes = 64 * KiB + 1, .maps_program = false}, Stream},
          {"inside a process, small", {.bytes = 64 * KiB}, Inline},
          {"inside a process", {.bytes = 64 * KiB + 1}, InPlace},
          {"node, the largest in a message", {.bytes = 4 * KiB, .shares_memory = true, .ring = true}, Inline},
          {"one more", {.bytes = 4 * KiB + 1, .shares_memory = true, .ring = true}, Ring},
          {"one more, no room", {.bytes = 4 * KiB + 1, .shares_memory = true}, Inline},
          {"not in place", {.bytes = 64 * KiB, .shares_memory = true, .ring = true}, Ring},
          {"from here on", {.bytes = 64 * KiB + 1, .shares_memory = true, .ring = true}, InPlace},
          {"rows", {.bytes = 1 * MiB, .shares_memory = true, .dense = false, .ring = true}, Ring},
          {"a handler fills", {.bytes = 1 * MiB, .shares_memory = true, .faults = true, .ring = true}, Ring},
          {"must be deferred", {.bytes = 1 * MiB, .shares_memory = true, .deferred = true, .ring = true}, Ring},
          {"the largest in the ring",
           {.bytes = 4 * MiB, .shares_memory = true, .maps_program = false, .ring = true},
           Ring},
          {"one more", {.bytes = 4 * MiB + 1, .shares_memory = true, .maps_program = false, .ring = true}, Stream},
          {"must be deferred, no room", {.bytes = 1 * MiB, .deferred = true}, SharedCopy},
          {"rows, no room", {.bytes = 1 * MiB, .dense = false}, SharedCopy},
          {"must be deferred, nothing mapped", {.bytes = 1 * MiB, .deferred = true, .maps_copy = false}, StreamCopy},
          {"rows, nothing mapped", {.bytes = 1 * MiB, .dense = false, .maps_copy = false}, StreamCopy},
      },
      gt::virt::choose_read, 6);
}

TEST_CASE("no mode whose condition does not hold") {
  each_random([](const TransferFacts& f) {
    const TransferMode write = gt::virt::choose_write(f);
    check_needs(f, write);
    check_straight(f, write);
    if (!f.has_event) CHECK((write == Inline || write == Stream || write == StreamCopy));

    const TransferMode read = gt::virt::choose_read(f);
    check_needs(f, read);
    check_straight(f, read);

    if (const auto behind = gt::virt::choose_late_write(f)) {
      check_needs(f, *behind);
      CHECK(*behind != Inline);
      if (*behind == Stream || *behind == StreamCopy) CHECK(f.end_known);
    } else {
      CHECK(!f.end_known);
    }
  });
}

TEST_CASE("what fails falls to another mode, and to each once at most") {
  const auto try_all = [](TransferFacts f, auto choose, auto fails) {
    std::set<TransferMode> tried;
    std::optional<TransferMode> mode = choose(f);
    for (; mode && fails(f, *mode); mode = choose(f)) REQUIRE(tried.insert(*mode).second);
    if (mode) CHECK(!tried.contains(*mode));
    return mode;
  };
  each_random([&](const TransferFacts& f) {
    CHECK(try_all(f, gt::virt::choose_write, rule_out));
    CHECK(try_all(f, gt::virt::choose_read, rule_out));
    CHECK(try_all(f, gt::virt::choose_read, rule_out_late));
    CHECK(try_all(f, gt::virt::choose_late_write, rule_out).has_value() == f.end_known);
  });
}
