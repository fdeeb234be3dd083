// What a TrackedRange (tracked_range.h) is made with, and what it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace gt::virt {

constexpr size_t SharedPage = 4096;  // a multiple of the system's

// Fills `into`, which is `bytes` of the alias, with what the device has at `offset`: whole pages. May wait as long as
// it must. False: it could not; the pages keep the bytes that they have, and whoever waits goes on. Throws nothing.
using PageFetch = std::function<bool(size_t offset, void* into, size_t bytes)>;

struct RangeSetup {
  void* at = nullptr;  // a multiple of SharedPage; nothing may be mapped there. nullptr: anywhere
  size_t bytes = 0;    // rounded up to pages
  PageFetch fetch;
  size_t most_ahead = size_t{8} << 20;  // bytes that one fetch may ask for where touches are contiguous
};

struct RangeCounts {  // of pages; faults and fetches since the beginning
  uint64_t clean, dirty, absent, fresh;
  uint64_t read_faults, write_faults, fetches, fetched_pages;
};

}  // namespace gt::virt
