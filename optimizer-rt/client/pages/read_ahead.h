// How many pages come with the one that was touched. Touches that go on where the last ones ended are a stream: each of
// its fetches is twice as long as the one before, and from the third on the next is under way while the program still
// works on the last. What came before it was touched is `ready`: it is in the alias, and opened without asking anybody.
//
// Four streams, for loops that read several arrays; the one that was used least lately gives way.
// Thread safety: none; the range's lock. Allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gt::virt {

struct PageRun {
  size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool has(size_t page) const { return begin <= page && page < end; }
  size_t pages() const { return end - begin; }
  bool meets(PageRun other) const { return begin < other.end && other.begin < end; }
};

class ReadAhead {
 public:
  static constexpr size_t Streams = 4;
  static constexpr uint32_t SureAfter = 2;  // contiguous touches

  struct Stream {
    size_t next = 0;    // where the next touch is expected
    size_t window = 0;  // pages of the last fetch; 0: never used
    uint32_t hits = 0;  // contiguous touches
    PageRun ready;      // begins at `next`, or is empty
    uint64_t used = 0;
    bool is_sure() const { return hits >= SureAfter; }
  };

  explicit ReadAhead(size_t first_pages) : first_(first_pages), most_(first_pages) {}
  void limit(size_t most_pages) { most_ = most_pages > first_ ? most_pages : first_; }
  size_t first() const { return first_; }
  size_t most() const { return most_; }

  // A page was touched that is not there: the stream that it goes on with, now twice as wide, or a new one.
  Stream& touched(size_t page) {
    for (Stream& s : streams_) {
      if (s.window == 0 || page < s.next || page >= s.next + s.window) continue;
      return goes_on(s);
    }
    Stream* oldest = &streams_[0];
    for (Stream& s : streams_) {
      if (s.used < oldest->used) oldest = &s;
    }
    *oldest = Stream{.next = page, .window = first_, .hits = 0, .ready = {}, .used = 0};
    return use(*oldest);
  }

  Stream& goes_on(Stream& s) {
    s.window = s.window * 2 < most_ ? s.window * 2 : most_;
    ++s.hits;
    return use(s);
  }

  Stream* ready_at(size_t page) {
    for (Stream& s : streams_) {
      if (s.ready.has(page)) return &s;
    }
    return nullptr;
  }
  Stream* expecting(size_t page) {
    for (Stream& s : streams_) {
      if (s.window != 0 && s.next == page) return &s;
    }
    return nullptr;
  }
  // Where the first ready page is, at or behind `from`; `end`: none before it.
  size_t first_ready(size_t from, size_t end) const {
    for (const Stream& s : streams_) {
      if (s.ready.meets({from, end})) end = s.ready.begin > from ? s.ready.begin : from;
    }
    return end;
  }
  bool any_ready() const { return first_ready(0, SIZE_MAX) != SIZE_MAX; }
  void drop_ready(PageRun run) {
    for (Stream& s : streams_) {
      if (s.ready.meets(run)) s.ready = {};
    }
  }

 private:
  Stream& use(Stream& s) {
    s.used = ++uses_;
    return s;
  }

  std::array<Stream, Streams> streams_;
  const size_t first_;
  size_t most_;
  uint64_t uses_ = 0;
};

}  // namespace gt::virt
