// Which memory is mapped: a table without locks that forgets rather than lies.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tracer/lib/mappings.h"

using namespace gt::tracer;

namespace {

const void* at(size_t i) { return reinterpret_cast<const void*>(i * 4096); }
Mapping mapping_of(size_t i) { return {{0, i}, i % 2 == 0}; }

}  // namespace

TEST_CASE("a mapping is known once, until it is taken") {
  note_mapping(at(1), mapping_of(1));
  note_mapping(at(2), mapping_of(2));
  note_mapping(at(2), mapping_of(4));  // the same place twice
  Mapping got;
  REQUIRE(take_mapping(at(1), got));
  CHECK(got.box.width == 1);
  CHECK(!got.written);
  CHECK(!take_mapping(at(1), got));
  REQUIRE(take_mapping(at(2), got));
  CHECK(got.written);
  const size_t first = got.box.width;
  REQUIRE(take_mapping(at(2), got));
  CHECK(first + got.box.width == 6);
  CHECK(!take_mapping(at(2), got));
  CHECK(!take_mapping(nullptr, got));
  CHECK(!take_mapping(reinterpret_cast<const void*>(1), got));
}

TEST_CASE("what finds no place is unknown, and nothing else changes") {
  constexpr size_t Many = 20000;
  for (size_t i = 1; i <= Many; ++i) note_mapping(at(i), mapping_of(i));
  size_t known = 0;
  for (size_t i = 1; i <= Many; ++i) {
    Mapping got;
    if (!take_mapping(at(i), got)) continue;
    CHECK(got.box.width == i);
    ++known;
  }
  CHECK(known >= 4000);
  CHECK(known <= 4096);
}

TEST_CASE("threads that map and unmap find their own") {
  std::vector<std::thread> threads;
  std::atomic<size_t> wrong{0};
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (size_t i = 0; i < 20000; ++i) {
        const size_t place = 1 + t * 16 + i % 16;
        note_mapping(at(place), mapping_of(place));
        Mapping got;
        wrong += !take_mapping(at(place), got) || got.box.width != place;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
