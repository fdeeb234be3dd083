// The collector's containers, each against the obvious slow version of itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>

#include "tracer/collect/address_map.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/interval_union.h"
#include "tracer/collect/names.h"
#include "tracer/collect/slot_set.h"

using namespace gt::tracer;

TEST_CASE("AddressMap does what unordered_map does") {
  std::mt19937_64 random(1);
  AddressMap<uint64_t> map;
  std::unordered_map<uint64_t, uint64_t> model;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t key = (random() % 5000 + 1) * 16;
    switch (random() % 3) {
      case 0:
        map[key] = model[key] = random();
        break;
      case 1:
        CHECK(map.erase(key) == (model.erase(key) == 1));
        break;
      default: {
        const uint64_t* found = map.find(key);
        const auto it = model.find(key);
        REQUIRE((found != nullptr) == (it != model.end()));
        if (found) CHECK(*found == it->second);
      }
    }
    REQUIRE(map.size() == model.size());
  }
}

TEST_CASE("SlotSet gives the lowest free slot") {
  std::mt19937_64 random(2);
  SlotSet slots;
  std::set<uint32_t> taken;
  std::vector<uint32_t> order;
  for (int i = 0; i < 100'000; ++i) {
    if (order.empty() || random() % 5 < 3) {
      uint32_t lowest = 0;
      if (taken.size() < 300) {
        while (taken.count(lowest)) ++lowest;
        REQUIRE(slots.take() == lowest);
      } else {
        lowest = slots.take();
        REQUIRE(taken.count(lowest) == 0);
      }
      taken.insert(lowest);
      order.push_back(lowest);
    } else {
      const size_t at = random() % order.size();
      slots.give_back(order[at]);
      taken.erase(order[at]);
      order[at] = order.back();
      order.pop_back();
    }
    REQUIRE(slots.live() == taken.size());
  }
}

TEST_CASE("IntervalUnion is the length of the union") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    IntervalUnion u;
    std::vector<bool> covered(3000);
    for (int i = 0; i < 100; ++i) {
      const uint64_t begin = random() % 2900, end = begin + random() % 100;
      u.add(begin, end);
      for (uint64_t t = begin; t < end; ++t) covered[t] = true;
    }
    CHECK(u.length() == static_cast<uint64_t>(std::count(covered.begin(), covered.end(), true)));
  }
}

TEST_CASE("the collector survives records of random bytes") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    Collector collector(1.0, 0);
    auto owner = std::make_unique<RingHeader>();
    owner->pid = 1 << 30;  // no such process: its /proc cannot be read
    owner->tid = 7;
    for (int i = 0; i < 2000; ++i) {
      gt::Bytes payload(random() % 40 * 8);
      for (uint8_t& b : payload) b = static_cast<uint8_t>(random() % 3 ? 0 : random());
      RecordHeader header{};
      header.bytes = static_cast<uint32_t>(sizeof header + payload.size());
      header.type = static_cast<RecordType>(random() % 14);
      header.fn =
          static_cast<uint16_t>(random() % 4 == 0 ? 0x8000 + random() % 40 : random() % 260);
      header.ticks = static_cast<uint64_t>(i);
      collector.take({header, payload, static_cast<uint32_t>(random() % 3), owner.get()});
      if (random() % 100 == 0) collector.ring_ended(static_cast<uint32_t>(random() % 3));
    }
    const gt::model::Trace trace = collector.finish();
    CHECK(trace.stats.size() == trace.shapes.size());
    for (const auto& shape : trace.shapes) {
      for (const auto& arg : shape.args)
        CHECK((arg.cls == gt::model::NoIndex || arg.cls < trace.classes.size()));
    }
  }
}

TEST_CASE("Objects finds the block that holds an address") {
  std::mt19937_64 random(4);
  Objects objects;
  std::map<uint64_t, uint64_t> blocks;
  uint64_t at = 0x10000;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t size = random() % 4 ? random() % 500 + 1 : random() % 100'000 + 1;
    at += random() % 10 * 16;
    objects.add_memory(at, size, {0, static_cast<uint32_t>(i)});
    blocks[at] = size;
    at += (size + 15) / 16 * 16;
  }
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t address = 0x10000 + random() % (at - 0x10000);
    auto it = blocks.upper_bound(address);
    const bool inside =
        it != blocks.begin() && address - std::prev(it)->first < std::prev(it)->second;
    const Place place = objects.find_memory(address);
    REQUIRE(place.found == inside);
    if (inside) CHECK(place.offset == address - std::prev(it)->first);
  }
}
