// The collector's containers, each against the obvious slow version of itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_map>

#include "tracer/collect/address_map.h"
#include "tracer/collect/collector.h"
#include "tracer/collect/folding_thread.h"
#include "tracer/collect/interval_union.h"
#include "tracer/collect/names.h"
#include "tracer/collect/slot_set.h"
#include "traces/api/alloc_fn.h"
#include "traces/api/encode.h"

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
      header.type = static_cast<RecordType>(random() % 24);
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

namespace {

using gt::api::AllocFn;

// Feeds a collector with memory calls of two threads of one process.
struct MemoryFeed {
  Collector collector{1.0, 0};
  RingHeader owners[2];
  uint64_t now = 0;

  MemoryFeed() {
    for (int i = 0; i < 2; ++i) owners[i].pid = 1 << 30, owners[i].tid = 7 + i;
  }
  void operator()(uint32_t thread, RecordType type, AllocFn fn, std::vector<uint64_t> words) {
    gt::Bytes payload(words.size() * 8);
    std::memcpy(payload.data(), words.data(), payload.size());
    const RecordHeader header{static_cast<uint32_t>(sizeof(RecordHeader) + payload.size()), type,
                              static_cast<uint16_t>(fn), ++now};
    collector.take({header, payload, thread, &owners[thread]});
  }
  void allocate(uint32_t thread, uint64_t site, uint64_t size, uint64_t p, std::vector<uint64_t> frames = {}) {
    if (!frames.empty()) (*this)(thread, RecordType::Frames, AllocFn::Malloc, frames);
    (*this)(thread, RecordType::Allocate, AllocFn::Malloc, {site, size, p});
  }
  void release(uint32_t thread, uint64_t p) { (*this)(thread, RecordType::Release, AllocFn::Free, {0x99, p}); }
};

std::string fact(const gt::model::Trace& t, std::string_view name) { return std::string(t.fact(name)); }

// "10 < 20" for each shape of `fn`.
std::multiset<std::string> sites_of(const gt::model::Trace& t, AllocFn fn) {
  std::multiset<std::string> out;
  for (const auto& s : t.shapes) {
    if (s.fn != static_cast<uint16_t>(fn)) continue;
    std::string text;
    for (uint32_t at = s.site; at != gt::model::NoIndex; at = t.sites[at].outer)
      text += (text.empty() ? "" : " < ") + std::to_string(t.sites[at].offset);
    out.insert(text);
  }
  return out;
}

}  // namespace

TEST_CASE("the address that a realloc gives back is its next owner's") {
  MemoryFeed feed;
  feed.allocate(0, 0x10, 100, 0x1000);
  feed(0, RecordType::Release, AllocFn::Realloc, {0x11, 0x1000, 200});
  feed.allocate(1, 0x12, 100, 0x1000);  // before the realloc has returned
  feed(0, RecordType::Returned, AllocFn::Realloc, {0x2000});
  feed.release(1, 0x1000);
  feed.release(0, 0x2000);
  const auto trace = feed.collector.finish();
  CHECK(fact(trace, "memory_calls") == "5");
  CHECK(fact(trace, "foreign_releases") == "0");
  CHECK(fact(trace, "lost.undecodable_records") == "0");
}

TEST_CASE("a free(NULL) by a module that is gone is the driver's; one by a known module is the program's") {
  MemoryFeed feed;
  feed.allocate(0, 0x10, 100, 0x1000);
  feed.release(0, 0);
  constexpr uint64_t NoBuildIdAndPath = 0x7070612f00;  // "\0/app\0"
  feed(0, RecordType::Module, AllocFn::Malloc, {0x80, 0x1000, NoBuildIdAndPath});
  feed.release(0, 0);
  const auto trace = feed.collector.finish();
  CHECK(fact(trace, "memory_calls") == "2");
  CHECK(fact(trace, "foreign_releases") == "1");
}

TEST_CASE("a realloc that fails keeps its memory; one that never returns is unfinished") {
  MemoryFeed feed;
  feed.allocate(0, 0x10, 100, 0x1000);
  feed(0, RecordType::Release, AllocFn::Realloc, {0x11, 0x1000, 200});
  feed(0, RecordType::Returned, AllocFn::Realloc, {0});
  feed.release(0, 0x1000);
  feed.allocate(0, 0x10, 100, 0x3000);
  feed(0, RecordType::Release, AllocFn::Realloc, {0x11, 0x3000, 200});
  const auto trace = feed.collector.finish();
  CHECK(fact(trace, "foreign_releases") == "0");
  size_t unfinished = 0, failed = 0;
  for (size_t i = 0; i < trace.shapes.size(); ++i) {
    unfinished += trace.shapes[i].unfinished;
    failed += trace.stats[i].failed;
  }
  CHECK(unfinished == 1);
  CHECK(failed == 1);
}

TEST_CASE("a site has as many outer frames as tell its uses apart") {
  MemoryFeed feed;
  feed.allocate(0, 10, 1 << 20, 0x100000, {20, 30, 40});  // a wrapper of a wrapper: 10 < 20 < 30, 31
  feed.allocate(0, 10, 1 << 20, 0x200000, {20, 31, 40});
  feed.allocate(0, 10, 1 << 20, 0x300000, {21, 30, 40});
  feed.allocate(0, 11, 1 << 20, 0x400000, {20, 30, 40});  // one use
  feed.allocate(0, 11, 16, 0x500000);                     // the same, too small to ask
  const auto trace = feed.collector.finish();
  CHECK(sites_of(trace, AllocFn::Malloc) ==
        std::multiset<std::string>{"10 < 20 < 30", "10 < 20 < 31", "10 < 21", "11", "11"});
  std::set<uint32_t> of_11;
  for (const auto& s : trace.shapes)
    if (trace.sites[s.site].offset == 11) of_11.insert(s.site);
  CHECK(of_11.size() == 1);
}

TEST_CASE("unmapping takes pieces") {
  Objects objects;
  std::vector<ObjectRef> ended;
  objects.add_memory(0x10000, 0x8000, {0, 5});
  objects.unmap(0x10000, 0x1000, ended);
  objects.unmap(0x13000, 0x1000, ended);
  CHECK(ended.empty());
  CHECK(!objects.find_memory(0x10800).found);
  CHECK(!objects.find_memory(0x13800).found);
  CHECK(objects.find_memory(0x12800).offset == 0x2800);
  CHECK(objects.find_memory(0x17fff).offset == 0x7fff);
  objects.unmap(0x10000, 0x3000, ended);
  CHECK(ended.empty());
  objects.unmap(0, 0x20000, ended);
  CHECK(ended.size() == 1);
  CHECK(!objects.find_memory(0x17fff).found);
}

TEST_CASE("A table of blocks holds what a map holds, crowded or not") {
  std::mt19937_64 random(5);
  for (const uint64_t within : {uint64_t{1} << 12, uint64_t{1} << 16, uint64_t{1} << 24}) {
    BlockTable table;
    std::map<uint64_t, uint64_t> blocks;
    const uint64_t from = random() % 2 ? 0x7f00'0000'0000 : 16;
    for (int i = 0; i < 50'000; ++i) {
      const uint64_t base = from + random() % within / 16 * 16, size = random() % (BlockTable::MostBytes + 1);
      BlockTable::Block* const found = table.find(base);
      const auto known = blocks.find(base);
      REQUIRE((found != nullptr) == (known != blocks.end()));
      REQUIRE(table.find(base + 8) == nullptr);
      if (!found) {
        table.add(base, size, {1, static_cast<uint32_t>(base >> 4)});
        blocks[base] = size;
        continue;
      }
      REQUIRE(found->size == known->second);
      REQUIRE(found->object.slot == static_cast<uint32_t>(base >> 4));
      if (random() % 4 == 0) {  // a free that nobody saw
        table.add(base, size, {1, static_cast<uint32_t>(base >> 4)});
        known->second = size;
      } else {
        BlockTable::remove(*found);
        blocks.erase(known);
      }
    }
    for (const auto& [base, size] : blocks) REQUIRE(table.find(base)->size == size);
  }
}

// `ended`: until then there are two processors, one of which is the program's.
void fold_beside(int ended) {
  FoldingThread beside(ended > 0 ? 2 : 8), here(1);
  std::array<gt::model::Folder, 2> threaded, plain;
  std::mt19937_64 random(6);
  const auto push = [&](size_t stream, uint32_t shape, std::vector<int64_t> values) {
    beside.push(threaded[stream], shape, values);
    here.push(plain[stream], shape, values);
  };
  for (int i = 0; i < 200'000; ++i) {
    if (i == ended) beside.program_ended();
    const size_t stream = random() % 64 == 0;
    const auto value = static_cast<int64_t>(random());
    push(stream, 0, {value % 1000});
    for (uint64_t inner = random() % 4; inner > 0; --inner) push(stream, 1, {});
    if (random() % 3 == 0) push(stream, 2, {i, value});
    if (i % 40'000 == 39'999) {
      const std::vector<gt::model::PushedEvent> again{{0, {value % 7}}, {2, {i, 4}}};
      for (int twice = 0; twice < 2; ++twice) {
        for (const auto& event : again) push(0, event.shape, event.values);
      }
      beside.push_again(threaded[0], again, 1000 + random() % 1000);
      i % 80'000 == 39'999 ? beside.stop() : beside.finish();  // it starts again by itself
      const uint64_t so_far = threaded[0].events();
      here.push_again(plain[0], again, (so_far - plain[0].events()) / 2);
      REQUIRE(so_far == plain[0].events());
    }
  }
  beside.finish();
  const auto bytes = [](const gt::model::Folder& folder) {
    gt::ByteWriter out;
    gt::model::encode_nodes(out, folder.snapshot());
    return std::vector<uint8_t>(out.view().begin(), out.view().end());
  };
  for (size_t i = 0; i < 2; ++i) {
    CHECK(threaded[i].events() == plain[i].events());
    CHECK(bytes(threaded[i]) == bytes(plain[i]));
  }
}

TEST_CASE("Streams that another thread folds are what they are without it") {
  fold_beside(0);
  fold_beside(50'000);
}

TEST_CASE("Objects finds the block that holds an address") {
  std::mt19937_64 random(4);
  Objects objects;
  std::map<uint64_t, uint64_t> blocks;
  uint64_t at = 0x10000;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t size = random() % 4 ? random() % 500 + 1 : random() % 100'000 + 1;
    at += random() % 10 * 16;
    objects.add_block(at, size, {0, static_cast<uint32_t>(i)});
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

namespace {

using gt::api::FnId;
using gt::api::number;

// Records of rings, as the injected library writes them.
class Rings {
 public:
  Collector collector{1.0, 0};

  Rings() {
    for (int i = 0; i < 3; ++i) {
      owners_.push_back(std::make_unique<RingHeader>());
      owners_.back()->pid = 1 << 30;
      owners_.back()->tid = 100 + i;
      owners_.back()->driver = i > 0;
      owners_.back()->stack_low = 0x1000;
      owners_.back()->stack_high = 0x10000;
    }
  }
  void set_event_callback(uint32_t ring, uint64_t event, uint64_t id, uint64_t stack = 0x8000) {
    gt::api::VectorWriter in;
    in.word(0x400000);
    in.word(stack);
    using Function = void(CL_CALLBACK*)(cl_event, cl_int, void*);
    gt::api::encode_inputs<FnId::clSetEventCallback>(in, reinterpret_cast<cl_event>(event), CL_COMPLETE,
                                                     reinterpret_cast<Function>(0x1234), static_cast<void*>(nullptr));
    take(ring, RecordType::Enter, number(FnId::clSetEventCallback), in.view());
    take_words(ring, RecordType::Register, Event, {id});
  }
  void returned(uint32_t ring, FnId fn, int64_t result = 0) {
    take_words(ring, RecordType::Exit, number(fn), {static_cast<uint64_t>(result)});
  }
  void enter(uint32_t ring, FnId fn, uint64_t handle, uint64_t stack) {
    take_words(ring, RecordType::Enter, number(fn), {0x400000, stack, handle});
  }
  void callback(uint32_t ring, uint64_t event, uint64_t id, uint64_t stack) {
    gt::api::VectorWriter in;
    in.word(id);
    in.word(stack);
    gt::api::encode_inputs<gt::api::fn_id(gt::api::CallbackFn::Event)>(in, reinterpret_cast<void*>(0x1234),
                                                                       reinterpret_cast<cl_event>(event), CL_COMPLETE);
    take(ring, RecordType::CallbackEnter, Event, in.view());
  }
  void callback_returned(uint32_t ring) { take_words(ring, RecordType::CallbackExit, Event, {}); }

  // "0: clFinish, event callback; ..." in the order of the streams.
  std::string finish() {
    const gt::model::Trace trace = collector.finish();
    std::vector<int> counts;
    for (const auto& s : trace.shapes) counts.push_back(s.values());
    std::string out;
    for (const auto& stream : trace.streams) {
      out += std::to_string(stream.thread) + ":";
      gt::model::expand(stream.nodes, counts, [&](gt::model::ShapeId shape, std::span<const int64_t>) {
        out += std::string(" ") + gt::api::function_name(trace.shapes[shape].fn);
        if (trace.shapes[shape].unfinished) out += "!";
        for (const auto& arg : trace.shapes[shape].args) {
          if (arg.param == gt::model::ParamCallback)
            out += arg.effect == gt::model::Effect::Def ? "=" : arg.effect == gt::model::Effect::Release ? "-" : "?";
        }
        return true;
      });
      out += "; ";
    }
    CHECK(trace.fact("lost.undecodable_records") == "0");
    return out;
  }

 private:
  static constexpr auto Event = static_cast<uint16_t>(gt::api::CallbackFn::Event);
  void take(uint32_t ring, RecordType type, uint16_t fn, gt::ByteView payload) {
    const RecordHeader header{static_cast<uint32_t>(sizeof(RecordHeader) + payload.size()), type, fn, ++now_};
    collector.take({header, payload, ring, owners_[ring].get()});
  }
  void take_words(uint32_t ring, RecordType type, uint16_t fn, std::vector<uint64_t> words) {
    take(ring, type, fn, {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8});
  }
  std::vector<std::unique_ptr<RingHeader>> owners_;
  uint64_t now_ = 1;
};

}  // namespace

TEST_CASE("a callback stands in its registrar's callback thread, whichever thread runs it") {
  for (const uint32_t ring : {0u, 1u, 2u}) {
    Rings r;
    for (uint64_t id = 1; id <= 3; ++id) {
      r.set_event_callback(0, 0x7000, id);
      if (ring == 0) {
        r.callback(0, 0x7000, id, 0x6000);
        r.callback_returned(0);
      }
      r.returned(0, FnId::clSetEventCallback);
      if (ring != 0) {
        r.callback(ring, 0x7000, id, 0x6000);
        r.enter(ring, FnId::clFinish, 0x7100, 0x5000);
        r.returned(ring, FnId::clFinish);
        r.callback_returned(ring);
      }
    }
    const std::string calls = ring == 0 ? " event callback-" : " event callback- clFinish";
    const std::string registered = "0: clSetEventCallback= clSetEventCallback= clSetEventCallback=; 1:";
    CHECK(r.finish() == registered + calls + calls + calls + "; ");
  }
}

TEST_CASE("callbacks that run at the same time have callback threads of their own") {
  Rings r;
  for (uint64_t id = 1; id <= 2; ++id) {
    r.set_event_callback(0, 0x7000, id);
    r.returned(0, FnId::clSetEventCallback);
  }
  r.callback(1, 0x7000, 1, 0x6000);
  r.callback(2, 0x7000, 2, 0x6000);
  r.callback_returned(1);
  r.callback_returned(2);
  CHECK(r.finish() == "0: clSetEventCallback= clSetEventCallback=; 1: event callback-; 2: event callback-; ");
}

TEST_CASE("a refused registration defines nothing") {
  Rings r;
  r.set_event_callback(0, 0x7000, 1);
  r.returned(0, FnId::clSetEventCallback, -30);
  CHECK(r.finish() == "0: clSetEventCallback; ");
}

TEST_CASE("a callback that is jumped out of is left at the next call") {
  Rings r;
  for (uint64_t id = 1; id <= 2; ++id) {
    r.set_event_callback(0, 0x7000, id);
    r.callback(0, 0x7000, id, 0x6000);
  }
  r.enter(0, FnId::clFinish, 0x7100, 0x8000);
  r.returned(0, FnId::clFinish);
  CHECK(r.finish() == "0: clSetEventCallback!= clSetEventCallback!= clFinish; 1: event callback!- event callback!-; ");
}

TEST_CASE("an exception that the driver catches ends the callback, not the call around it") {
  Rings r;
  r.set_event_callback(0, 0x7000, 1);
  r.callback(0, 0x7000, 1, 0x6000);
  r.enter(0, FnId::clFinish, 0x7100, 0x5000);
  r.returned(0, FnId::clSetEventCallback);
  CHECK(r.finish() == "0: clSetEventCallback=; 1: event callback- clFinish!; ");
}

namespace {

// Feeds a collector with block words of one thread.
struct BlockFeed {
  Collector collector{1.0, 0};
  RingHeader owner;

  BlockFeed() {
    owner.pid = 1 << 30;
    for (const auto& [slot, form] : {std::pair{0, block_form(AllocFn::Malloc, 0x100)},
                                     std::pair{1, block_form(AllocFn::New, 0x200)},
                                     std::pair{2, block_form(AllocFn::Free, 0x300)},
                                     std::pair{3, block_form(AllocFn::DeleteSized, 0x400)}}) {
      const std::vector<uint64_t> words{static_cast<uint64_t>(slot), form, 0};
      take(RecordType::BlockForm, words);
    }
  }
  void take(RecordType type, std::span<const uint64_t> words, uint64_t first = 0, uint64_t calls = 0) {
    const gt::ByteView payload(reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes());
    collector.take({{0, type, 0, 0}, payload, 0, &owner, first, calls});
  }
};

std::vector<std::vector<int64_t>> memory_calls(const gt::model::Trace& trace) {
  std::vector<std::vector<int64_t>> out;
  std::vector<int> widths;
  for (const auto& shape : trace.shapes) widths.push_back(shape.values());
  for (const auto& stream : trace.streams) {
    CHECK(gt::model::expand(stream.nodes, widths, [&](gt::model::ShapeId shape, std::span<const int64_t> values) {
      out.push_back({shape});
      out.back().insert(out.back().end(), values.begin(), values.end());
      return true;
    }));
  }
  return out;
}

}  // namespace

TEST_CASE("calls that repeat are taken as if each had been told") {
  const auto made = [](uint32_t form, uint64_t p, uint64_t n) { return block_word(BlockTag::Made, form, p, n); };
  const auto freed = [](uint64_t p) { return block_word(BlockTag::Freed, 2, p, 0); };
  const auto sized = [](uint64_t p, uint64_t bytes) { return block_word(BlockTag::FreedSized, 3, p, bytes); };
  const std::vector<uint64_t> periods[] = {
      {made(0, 0x1000, 24), freed(0x1000)},
      {freed(0x1000), made(0, 0x1000, 24)},
      {made(0, 0x1000, 24), made(1, 0x2000, 100), sized(0x2000, 100), freed(0x1000)},
      {made(0, 0x1000, 24), freed(0x2000), made(0, 0x2000, 48), freed(0x1000)},  // two iterations of the program's loop
      {made(0, 0x1000, 24), freed(0x7000), freed(0x1000)},                       // the second is a driver's block
      {made(0, 0x1000, 24), made(0, 0x2000, 24), freed(0x1000), freed(0x2000)},
  };
  for (const auto& period : periods) {
    for (const uint64_t calls : {1, 2, 3, 7, 8, 9, 100, 1001}) {
      BlockFeed one, other;
      std::vector<uint64_t> words;
      for (uint64_t i = 0; i < 3 * period.size(); ++i) words.push_back(period[i % period.size()]);
      one.take(RecordType::Blocks, words);
      for (uint64_t i = 0; i < calls; ++i) words.push_back(period[i % period.size()]);
      words.push_back(made(1, 0x9000, 7));
      other.take(RecordType::Blocks, words);
      const uint64_t part = calls / 3;  // the reader gives them as they come
      if (part > 0) one.take(RecordType::Repeat, period, 0, part);
      one.take(RecordType::Repeat, period, part, calls - part);
      one.take(RecordType::Blocks, std::vector<uint64_t>{made(1, 0x9000, 7)});
      const auto a = one.collector.finish(), b = other.collector.finish();
      CHECK(memory_calls(a) == memory_calls(b));
      for (const char* name : {"memory_calls", "foreign_releases", "lost.undecodable_records"})
        CHECK(fact(a, name) == fact(b, name));
      REQUIRE(a.stats.size() == b.stats.size());
      for (size_t i = 0; i < a.stats.size(); ++i) {
        CHECK(a.stats[i].calls == b.stats[i].calls);
        CHECK(a.stats[i].bytes.sum == b.stats[i].bytes.sum);
        CHECK(a.stats[i].bytes.count == b.stats[i].bytes.count);
      }
    }
  }
}

TEST_CASE("repeats that make no sense end, and are counted") {
  BlockFeed feed;
  feed.take(RecordType::Repeat, {}, 0, 1'000'000'000'000);
  const std::vector<uint64_t> unknown{block_word(BlockTag::Made, 77, 0x1000, 8), base_word(3, 0)};
  feed.take(RecordType::Repeat, unknown, 5, 1'000'000'000'000);
  const auto trace = feed.collector.finish();
  CHECK(fact(trace, "memory_calls") == "0");
  CHECK(fact(trace, "lost.undecodable_records") == "1000000000001");
}
