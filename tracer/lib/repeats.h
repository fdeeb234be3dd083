// Calls that repeat: a loop that makes and frees the same blocks again is a number in the ring, counted up in place.
//
// A Repeat record holds the block words of one period and how many calls have been made since that were the next of
// them, over and over. While the thread writes nothing else, the number grows; what comes behind it makes it final. So
// such a call costs its thread one store, and the collector nothing for each.
// Only while the thread is alone (solitude.h), and never for a timeline, which wants the time of each call.
// Thread safety: the thread's own, in its ring's page; the reader reads the record only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace gt::tracer {

// What a Repeat record holds, followed by the words. RecordHeader::fn: how many they are.
struct RepeatRecord {
  std::atomic<uint64_t> calls{0};
};

// Looks for a period in a thread's block words, the last Window of which it remembers.
class Repeats {
 public:
  static constexpr uint32_t Window = 32;  // the longest period

  // A word that is written, or counted, as it is. True: from here on the last period() words come again, as they have
  // done for a while.
  bool see(uint64_t word) {
    if (asleep_ > 0) {
      --asleep_;
      return false;
    }
    const uint32_t hash = static_cast<uint32_t>(word * 0x9e3779b97f4a7c15u >> 59);
    if (period_ != 0 && words_[(at_ - period_) % Window] == word) {
      ++matched_;
    } else {
      const uint32_t apart = at_ - last_[hash];
      const bool known = apart != 0 && apart <= Window && words_[last_[hash] % Window] == word;
      period_ = known ? apart : 0;
      matched_ = known;
      if (!known && ++misses_ == MostMisses) sleep();
    }
    words_[at_ % Window] = word;
    last_[hash] = at_++;
    if (period_ == 0 || matched_ < 2 * Window) return false;
    misses_ = 0;
    return true;
  }
  uint32_t period() const { return period_; }
  // Of the period, the word that comes next first.
  uint64_t word(uint32_t i) const { return words_[(at_ - period_ + i) % Window]; }
  // What was seen does not go on: another record, or another base, came in between.
  void forget() { period_ = matched_ = 0; }

 private:
  // Of a stream that does not repeat: what is not looked at costs nothing.
  static constexpr uint32_t MostMisses = 256, Sleep = 4096;
  void sleep() {
    misses_ = 0;
    asleep_ = Sleep;
  }

  std::array<uint64_t, Window> words_{};
  std::array<uint32_t, 32> last_{};  // by hash: where a word was seen
  uint32_t at_ = Window, period_ = 0, matched_ = 0;
  uint32_t misses_ = 0, asleep_ = 0;
};

}  // namespace gt::tracer
