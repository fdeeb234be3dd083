// A device's memory that pages are fetched from: bytes, a count, a time that each fetch takes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "optimizer-rt/client/pages/tracked_range.h"

namespace gt::test {

constexpr size_t Page = virt::TrackedRange::Page;

struct FakePages {
  explicit FakePages(size_t pages) : device(pages * Page) {}

  std::vector<uint8_t> device;
  std::atomic<int> fetches{0};
  std::atomic<size_t> fetched_bytes{0}, largest{0};
  std::atomic<bool> fails{false};
  std::chrono::microseconds takes{0};

  virt::TrackedRange::Fetch fetch() {
    return [this](size_t offset, void* into, size_t bytes) {
      ++fetches;
      fetched_bytes += bytes;
      largest = std::max(largest.load(), bytes);
      if (takes.count() > 0) std::this_thread::sleep_for(takes);
      if (fails) return false;
      std::memcpy(into, device.data() + offset, bytes);
      return true;
    };
  }
  std::unique_ptr<virt::TrackedRange> range(size_t most_ahead = size_t{8} << 20) {
    auto made =
        virt::TrackedRange::make({.at = nullptr, .bytes = device.size(), .fetch = fetch(), .most_ahead = most_ahead});
    REQUIRE_MESSAGE(made.ok(), made.status().text());
    return std::move(*made);
  }
  // What is newer in the program's memory, as a launch sends it.
  size_t send(virt::TrackedRange& range) {
    return range.take_dirty(
        [&](size_t offset, size_t bytes, const void* from) { std::memcpy(device.data() + offset, from, bytes); });
  }
};

inline volatile uint8_t& byte_of(virt::TrackedRange& range, size_t offset) {
  return *reinterpret_cast<volatile uint8_t*>(range.program_view() + offset);
}

inline void touch(virt::TrackedRange& range, size_t offset) {
  [[maybe_unused]] const uint8_t value = byte_of(range, offset);
}

}  // namespace gt::test
