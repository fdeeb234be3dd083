// Parts of a replay: comparing within tolerances, the program's memory, the order of threads.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tracer/gtrace/replay/comparison.h"
#include "tracer/gtrace/replay/host_memory.h"
#include "tracer/gtrace/replay/late_reads.h"
#include "tracer/gtrace/replay/order.h"

namespace gt::tracer {
namespace {

template <class T>
Bytes bytes_of(std::initializer_list<T> values) {
  Bytes out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.begin(), out.size());
  return out;
}

TEST_CASE("elements are what kernels take them for") {
  CHECK(element_type("float4*") == ElementType::Float);
  CHECK(element_type("uint*") == ElementType::UInt);
  CHECK(element_type("unsigned int*") == ElementType::UInt);
  CHECK(element_type("double") == ElementType::Double);
  CHECK(element_type("Particle*") == ElementType::Byte);
  CHECK(element_type("") == ElementType::Byte);
}

TEST_CASE("results are compared within a tolerance") {
  const float next = std::nextafter(1.0F, 2.0F);
  const Bytes a = bytes_of({1.0F, 2.0F, std::numeric_limits<float>::quiet_NaN(), -0.0F});
  const Bytes b = bytes_of({next, 2.0F, -std::numeric_limits<float>::quiet_NaN(), 0.0F});
  const auto within = [&](const char* text) { return compare(a, b, ElementType::Float, *Tolerance::parse(text)); };
  const auto exact = within("exact");
  REQUIRE(exact);
  CHECK(exact->differing == 3);
  CHECK(exact->elements == 4);
  CHECK(exact->offset == 0);
  CHECK(exact->expected == "1");
  CHECK(!within("ulp:1"));
  CHECK(!within("abs:1e-6"));
  REQUIRE(within("ulp:0"));
  CHECK(within("ulp:0")->differing == 1);  // NaNs, and the two zeros, are the same numbers
  CHECK(compare(bytes_of({1, 2}), bytes_of({1, 3}), ElementType::Int, *Tolerance::parse("ulp:9")));
  CHECK(!compare(bytes_of({1, 2}), bytes_of({1, 3}), ElementType::Int, *Tolerance::parse("abs:1")));
  CHECK(compare(bytes_of({1}), bytes_of({1, 3}), ElementType::Int, *Tolerance::parse("abs:9")));
  for (const char* wrong : {"", "ulp", "ulp:", "ulp:x", "abs:-1", "abs:nan", "exactly", "ulp:1 "})
    CHECK(!Tolerance::parse(wrong).ok());
}

TEST_CASE("the program's memory is one, however it is asked for") {
  HostMemory memory;
  uint8_t* const middle = memory.at({1, 0, 100}, 50);
  REQUIRE(middle);
  middle[0] = 7;
  CHECK(memory.at({1, 0, 120}, 30) == middle + 20);
  uint8_t* const more = memory.at({1, 0, 0}, 120);  // grows, and keeps what was there
  CHECK(more[100] == 7);
  CHECK(memory.at({1, 0, 149}, 1) == more + 149);
  CHECK(memory.at({1, 1, 100}, 50) != more + 100);  // another object
  CHECK(memory.at({1, 0, 1 << 30}, 8) != nullptr);  // far away: no memory between
  CHECK(memory.bytes() < 100000);
  CHECK(memory.at({1, 0, INT64_MAX - 1}, 100) == nullptr);

  memory.note_content({1, 0, 0}, 64, 5);
  CHECK(memory.holds({1, 0, 0}, 64, 5));
  CHECK(!memory.holds({1, 0, 0}, 63, 5));
  memory.note_content({1, 0, 60}, 8, -1);
  CHECK(!memory.holds({1, 0, 0}, 64, 5));
}

TEST_CASE("a read is over when what came behind it in its queue was waited for") {
  LateReads reads;
  LateRead read;
  read.place = {1, 0, 64};
  read.box = {0, 32};
  read.event = 7;
  read.queue = 100;
  reads.add(read);
  CHECK(reads.touch({1, 0, 80}, 8));
  reads.note_event(8);
  CHECK(reads.waited(101, 0).empty());  // another queue
  CHECK(reads.waited(100, 9).empty());  // nobody knows when that was
  CHECK(reads.touch({1, 0, 80}, 8));
  CHECK(reads.waited(100, 8) == std::vector<uint64_t>{7});
  CHECK(!reads.touch({1, 0, 80}, 8));
  CHECK(!reads.any());
}

// Both threads make calls at the given times; gives the order in which they began.
std::vector<int> order_of(OrderBy by, const std::vector<std::pair<uint64_t, uint64_t>>& first,
                          const std::vector<std::pair<uint64_t, uint64_t>>& second) {
  CallOrder order(by, 2);
  std::vector<int> began;
  Mutex mutex;
  const auto run = [&](size_t thread, const std::vector<std::pair<uint64_t, uint64_t>>& calls) {
    for (const auto& [entered, left] : calls) {
      CallOrder::Turn turn;
      turn.entered = entered;
      turn.left = left;
      if (!order.enter(thread, turn)) break;
      {
        const MutexLock lock(mutex);
        began.push_back(static_cast<int>(entered));
      }
      order.leave(thread);
    }
    order.finish(thread);
  };
  std::thread other([&] { run(1, second); });
  run(0, first);
  other.join();
  return began;
}

TEST_CASE("threads keep the recorded order") {
  for (int i = 0; i < 50; ++i)
    CHECK(order_of(OrderBy::Times, {{10, 11}, {30, 31}, {70, 71}}, {{20, 21}, {40, 41}, {50, 51}, {60, 61}}) ==
          std::vector<int>{10, 20, 30, 40, 50, 60, 70});
}

TEST_CASE("a call that waited for another thread's gets it") {
  CallOrder order(OrderBy::Times, 2);
  std::atomic<bool> told{false};
  CallOrder::Turn waits, tells;
  waits.entered = 10;
  waits.left = 30;
  tells.entered = 20;
  tells.left = 21;
  std::thread other([&] {
    CHECK(order.enter(1, tells));
    told.store(true);
    order.leave(1);
    order.finish(1);
  });
  CHECK(order.enter(0, waits));
  while (!told.load()) std::this_thread::yield();
  order.leave(0);
  order.finish(0);
  other.join();
}

TEST_CASE("without times, a call waits for its objects") {
  for (int i = 0; i < 20; ++i) {
    CallOrder order(OrderBy::Needs, 2);
    std::atomic<bool> made{false};
    bool was_there = false;
    CallOrder::Turn maker, user;
    maker.ready = [] { return true; };
    user.ready = [&] { return made.load(); };
    std::thread other([&] {
      if (order.enter(1, maker)) made.store(true);
      order.leave(1);
      order.finish(1);
    });
    if (order.enter(0, user)) was_there = made.load();
    order.leave(0);
    order.finish(0);
    other.join();
    CHECK(was_there);
  }
}

TEST_CASE("who waits when a replay ends goes") {
  CallOrder order(OrderBy::Times, 2);
  CallOrder::Turn turn;
  turn.entered = 5;
  std::thread other([&] { CHECK(!order.enter(1, turn)); });
  order.stop();
  other.join();
}

}  // namespace
}  // namespace gt::tracer
