// Threads that leave out the ticks of their memory calls while they are alone, and a reader who puts all in order
// nevertheless (tracer/lib/solitude.h): interrupted after any instruction, and as threads that hand blocks over.
#include <doctest/doctest.h>

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/own_spool.h"
#include "tracer/collect/spool_reader.h"
#include "tracer/lib/block_recorder.h"

using namespace gt::tracer;
using gt::api::AllocFn;

namespace {

constexpr uint16_t Fn = 0x8000;
constexpr uint64_t Site = 0x401000;

SpoolReader& spool_reader() {
  static OwnSpool spool({.ring_bytes = 1 << 16, .ring_count = 32, .most_backlog = 64 << 20});
  return spool.reader;
}

// Gives each call that is told: ring, does it make a block, address. Of another record: its number in `address`.
struct Hearer {
  std::function<void(uint32_t, BlockTag, uint64_t)> hear;
  std::map<uint32_t, uint64_t> bases;
  uint64_t repeated = 0;

  void operator()(const RecordView& r) {
    const auto word = [&](size_t i) {
      uint64_t v = 0;
      std::memcpy(&v, r.payload.data() + 8 * i, 8);
      return v;
    };
    const auto take = [&](uint64_t v) {
      const BlockCall call = block_call(v, bases[r.ring]);
      hear(r.ring, call.tag, call.address);
    };
    if (r.header.type == RecordType::Release) hear(r.ring, BlockTag::None, word(0));
    for (uint64_t call = r.first_call; call < r.first_call + r.calls; ++call) take(word(call % r.header.fn));
    repeated += r.calls;
    if (r.header.type != RecordType::Blocks) return;
    for (size_t i = 0; i < r.payload.size() / 8; ++i) {
      if (tag_of(word(i)) == BlockTag::Base) {
        bases[r.ring] = base_in(word(i));
      } else {
        take(word(i));
      }
    }
  }
};

bool record_made(uint64_t address) { return record_block(BlockTag::Made, AllocFn::Malloc, Site, address, 16); }
bool record_freed(uint64_t address) { return record_block(BlockTag::Freed, AllocFn::Free, Site, address); }

#if defined(__x86_64__)

// Lets `victim` run until it has executed so many instructions, then all of `other`, then the rest of `victim`. That
// one may be in the middle of anything: `other` must not allocate if it does.
class Interruption {
 public:
  Interruption(uint64_t after, const std::function<void()>& victim, const std::function<void()>& other) {
    left_ = after;
    other_ = &other;
    phase_ = Phase::Before;
    struct sigaction action {}, before {};
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before);
    raise(SIGTRAP);
    phase_ = Phase::Counts;
    victim();
    if (phase_ == Phase::Counts) phase_ = Phase::RanOut;
    while (phase_ != Phase::Done) {
    }
    sigaction(SIGTRAP, &before, nullptr);
  }

 private:
  enum class Phase { Before, Counts, RanOut, Done };

  // Comes again after the next instruction, as long as it leaves the flag in the state that it was given.
  static void step(int, siginfo_t*, void* context) {
    constexpr greg_t TrapFlag = 0x100;
    greg_t& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
    flags |= TrapFlag;
    if (phase_ == Phase::Before || (phase_ == Phase::Counts && left_ > 0)) {
      left_ = left_ - (phase_ == Phase::Counts);
      return;
    }
    (*other_)();
    phase_ = Phase::Done;
    flags &= ~TrapFlag;
  }

  static inline volatile uint64_t left_ = 0;
  static inline volatile Phase phase_ = Phase::Before;
  static inline const std::function<void()>* other_ = nullptr;
};

// Threads that take turns in this one: each has a ring. What they record is told in an order that keeps what was done
// before another thing began.
class Turns {
 public:
  explicit Turns(uint64_t seed) : random_(seed) {
    heard_.hear = [this](uint32_t ring, BlockTag tag, uint64_t value) { check(ring, tag, value); };
    for (Actor& actor : actors_) {
      t_ring = nullptr;
      actor.ring = *claim_ring();
      actor.done.reserve(MostCalls);
    }
    spool_reader().read([](const RecordView&) {}, true);
  }
  ~Turns() {
    for (Actor& actor : actors_) actor.ring.header->state = RingState::Ended;
    t_ring = nullptr;
    spool_reader().recycle([](uint32_t) {});
  }

  void round() {
    alone_for_a_while();
    const uint64_t others = 1 + random_() % 3;
    const std::function<void()> interrupt = [&] {
      if (random_() % 4 == 0) alone_for_a_while();
      for (uint64_t i = 0; i < others; ++i) act_of_any();
    };
    if (random_() % 16 == 0) {
      Interruption(random_() % 4000, [&] { read(); }, interrupt);
    } else {
      const uint64_t victim = random_() % Actors;
      busy_ = victim;
      Interruption(random_() % 150, [&] { act(actors_[victim]); }, [&] {
        Ring* const ring = t_ring;
        interrupt();
        if (random_() % 2) read();
        t_ring = ring;
      });
      busy_ = Actors;
    }
    if (random_() % 4 == 0) read();
  }
  void finish() {
    spool_reader().read(std::ref(heard_), true);
    for (const Actor& actor : actors_) unheard += actor.done.size() - actor.heard;
  }

  uint64_t disorder = 0, unheard = 0;
  uint64_t repeated() const { return heard_.repeated; }
  uint64_t saved_bytes() const {
    uint64_t bytes = 0;
    for (const Actor& actor : actors_) bytes += 16 * actor.done.size() - actor.ring.position;
    return bytes;
  }

 private:
  static constexpr size_t Actors = 3, MostCalls = 200'000;
  struct Done {
    BlockTag tag;
    uint64_t value, begin, end;
  };
  struct Actor {
    Ring ring;
    std::vector<Done> done;
    size_t heard = 0;
    uint64_t next = 0;
  };

  // One in `odds` is not a memory call.
  void act(Actor& actor, uint64_t odds = 4) {
    t_ring = &actor.ring;
    const uint64_t begin = ++now_, i = actor.next++;
    const BlockTag tag = i % 2 == 0 ? BlockTag::Made : BlockTag::Freed;
    if (random_() % odds == 0) {
      actor.done.push_back({BlockTag::None, begin, begin, ~uint64_t{0}});
      record(RecordType::Release, Fn, ticks_after_loads(), begin);
    } else {
      const uint64_t address = 16 * (1 + (random_() % 500 == 0));
      actor.done.push_back({tag, address, begin, ~uint64_t{0}});
      tag == BlockTag::Made ? record_made(address) : record_freed(address);
    }
    actor.done.back().end = ++now_;
  }
  void act_of_any() {
    const uint64_t i = random_() % Actors;
    if (i != busy_) act(actors_[i]);
  }
  // Long enough to be alone, now and then, and for calls that repeat.
  void alone_for_a_while() {
    const uint64_t i = random_() % Actors, calls = random_() % 4 ? random_() % 8 : random_() % 600;
    for (uint64_t n = 0; n < calls && i != busy_; ++n) act(actors_[i], 500);
  }
  void read() { spool_reader().read(std::ref(heard_)); }
  void check(uint32_t ring, BlockTag tag, uint64_t value) {
    for (Actor& actor : actors_) {
      if (actor.ring.index != ring) continue;
      const Done& done = actor.done[actor.heard++];
      disorder += done.tag != tag || done.value != value || done.end < latest_begin_;
      latest_begin_ = std::max(latest_begin_, done.begin);
    }
  }

  std::mt19937_64 random_;
  Actor actors_[Actors];
  size_t busy_ = Actors;
  Hearer heard_;
  std::atomic<uint64_t> now_{0};  // in steps of the test; one instruction counts it up
  uint64_t latest_begin_ = 0;
};

#endif

}  // namespace

#if defined(__x86_64__)
TEST_CASE("a thread or the reader that is interrupted after any instruction leaves the order as it was") {
  spool_reader();
  REQUIRE(recording());
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    Turns turns(seed);
    for (int i = 0; i < 500; ++i) turns.round();
    turns.finish();
    CHECK(turns.disorder == 0);
    CHECK(turns.unheard == 0);
    CHECK(turns.repeated() > 3000);
    CHECK(turns.saved_bytes() > 20'000);
  }
}

TEST_CASE("a call that is counted while the reader looks is not given before what caused it") {
  SpoolReader& reader = spool_reader();
  t_ring = nullptr;
  Ring writer = *claim_ring();
  t_ring = nullptr;
  Ring counter = *claim_ring();
  t_ring = &counter;
  uint64_t made = 0, heard = 0, too_early = 0, records = 0;
  const auto make_pair = [&] { made += 2 * (record_made(16) && record_freed(16)); };
  Hearer hearer;
  hearer.hear = [&](uint32_t, BlockTag tag, uint64_t before) {
    heard += tag != BlockTag::None;
    records += tag == BlockTag::None;
    too_early += tag == BlockTag::None && heard > before;  // calls that it caused
  };
  for (uint64_t after = 0; after < 3000; after += 23) {
    // The writer has looked around and is about to commit when the other one becomes alone.
    uint8_t* const record = reserve(writer, RecordType::Release, Fn, sizeof(RecordHeader) + 8, ticks_after_loads());
    REQUIRE(record);
    do make_pair();
    while (counter.repeat.period == 0);
    reader.read(std::ref(hearer));
    std::memcpy(record, &made, 8);
    Interruption(after, [&] { reader.read(std::ref(hearer)); }, [&] {
      commit(writer, sizeof(RecordHeader) + 8);
      make_pair();
    });
    reader.read(std::ref(hearer));
    CHECK(records == after / 23 + 1);
    CHECK(heard == made);
    CHECK(counter.repeat.period != 0);
  }
  CHECK(too_early == 0);
  for (const Ring* ring : {&writer, &counter}) ring->header->state = RingState::Ended;
  t_ring = nullptr;
  reader.read([](const RecordView&) {}, true);
  reader.recycle([](uint32_t) {});
}
#endif

namespace {

// Blocks that threads take from each other, as an allocator's: whoever frees one has recorded that before another one
// gets it.
class Heap {
 public:
  uint64_t make() {
    const std::lock_guard lock(mutex_);
    uint64_t address = 16 * ++made_;
    if (!free_.empty()) address = free_.back(), free_.pop_back();
    return address;
  }
  void free(uint64_t address) {
    const std::lock_guard lock(mutex_);
    free_.push_back(address);
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> free_;
  uint64_t made_ = 0;
};

struct HandOver {
  Heap heap;
  std::mutex mutex;
  std::deque<uint64_t> handed;
  std::atomic<uint64_t> calls{0};

  // Pairs of its own, alone for some time if the others sleep; and blocks that others free.
  void run(uint64_t seed, int rounds) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < rounds; ++i) {
      const uint64_t pairs = random() % 8 ? random() % 4 : random() % 3000;
      for (uint64_t p = 0; p < pairs; ++p) {
        const uint64_t block = make();
        free(block);
      }
      const uint64_t mine = make();
      uint64_t theirs = 0;
      {
        const std::lock_guard lock(mutex);
        handed.push_back(mine);
        if (random() % 2) theirs = handed.front(), handed.pop_front();
      }
      if (theirs != 0) free(theirs);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
  }

 private:
  uint64_t make() {
    const uint64_t block = heap.make();
    record_made(block);
    ++calls;
    return block;
  }
  void free(uint64_t block) {
    record_freed(block);
    ++calls;
    heap.free(block);
  }
};

}  // namespace

TEST_CASE("of threads that hand blocks over none is made twice, or freed before it was made") {
  SpoolReader& reader = spool_reader();
  for (int threads = 2; threads <= 4; ++threads) {
    HandOver work;
    std::atomic<int> running{threads};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        work.run(static_cast<uint64_t>(10 * threads + t), 1500);
        --running;
      });
    }
    uint64_t heard = 0, senseless = 0;
    std::vector<bool> lives;
    Hearer hearer;
    hearer.hear = [&](uint32_t, BlockTag tag, uint64_t address) {
      ++heard;
      if (lives.size() <= address / 16) lives.resize(address / 16 + 1);
      senseless += lives[address / 16] == (tag == BlockTag::Made);
      lives[address / 16] = tag == BlockTag::Made;
    };
    while (running > 0) reader.read(std::ref(hearer));
    for (auto& t : all) t.join();
    reader.read(std::ref(hearer), true);
    reader.recycle([](uint32_t) {});
    CHECK(heard == work.calls);
    CHECK(senseless == 0);
    CHECK(reader.damaged_rings() == 0);
    if (TicksAreShort) CHECK(hearer.repeated > heard / 10);
  }
}
