// What each page of a range is, and how many are what: a byte for a block of 512 pages that are all the same, a byte
// for each page of the others. Memory is the system's zeros until it is written, so a range of 64 GiB takes 32 KiB.
// Invariant: counts of all states add up to pages(); borders() is the number of places where the protection changes.
// Thread safety: none; the range's lock. Allocates nothing after make(): a signal handler changes it, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt::virt {

enum class PageState : uint8_t { Fresh, Clean, Dirty, Absent };  // tracked_range.h; zeros are Fresh

class PageStates {
 public:
  static constexpr size_t Block = 512;

  PageStates() = default;
  ~PageStates();
  PageStates(const PageStates&) = delete;
  PageStates& operator=(const PageStates&) = delete;
  bool make(size_t pages);  // all Fresh. False: no memory

  size_t pages() const { return pages_; }
  size_t count(PageState state) const { return counts_[static_cast<size_t>(state)]; }
  size_t borders() const { return borders_; }

  PageState at(size_t page) const;
  // Where another state begins, at most `end`. REQUIRES: page < end <= pages().
  size_t run_end(size_t page, size_t end) const;
  // The first page in [from, end) that is that; end: none.
  size_t find(PageState state, size_t from, size_t end) const;
  void set(size_t begin, size_t end, PageState state);

 private:
  static constexpr uint8_t Mixed = 0xff;
  bool differs_before(size_t page) const;
  size_t leave_counts(size_t begin, size_t end);
  void set_in_block(size_t begin, size_t end, uint8_t state);

  size_t pages_ = 0, blocks_ = 0;
  uint8_t* block_ = nullptr;  // a state, or Mixed
  uint8_t* page_ = nullptr;   // where the block is Mixed
  size_t counts_[4] = {};
  size_t borders_ = 0;
};

}  // namespace gt::virt
