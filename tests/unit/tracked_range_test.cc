// Pages that are kept in step with a device's: what is fetched, what is sent, what happens in between.
#include "optimizer-rt/client/pages/tracked_range.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/fake_pages.h"

using namespace gt;
using namespace gt::test;
using For = virt::TrackedRange::For;

TEST_CASE("what was touched of fresh memory is sent, without a fault; then what is written") {
  FakePages pages(64);
  const auto range = pages.range();
  CHECK(pages.send(*range) == 0);
  byte_of(*range, 3 * Page + 5) = 7;
  byte_of(*range, 4 * Page) = 8;
  byte_of(*range, 40 * Page) = 9;
  CHECK(pages.send(*range) == 3 * Page);
  CHECK(pages.device[3 * Page + 5] == 7);
  CHECK(pages.device[40 * Page] == 9);
  CHECK(range->counts().write_faults == 0);
  CHECK(pages.send(*range) == 0);
  byte_of(*range, 40 * Page) = 10;
  CHECK(range->counts().write_faults == 1);
  CHECK(pages.send(*range) == Page);
  CHECK(pages.device[40 * Page] == 10);
  CHECK(byte_of(*range, 3 * Page + 5) == 7);
  CHECK(range->counts().read_faults == 0);
}

TEST_CASE("what a device wrote is fetched when it is touched, once") {
  FakePages pages(64);
  const auto range = pages.range();
  byte_of(*range, 0) = 1;
  pages.send(*range);
  range->invalidate();
  for (size_t i = 0; i < 64; ++i) pages.device[i * Page] = static_cast<uint8_t>(i + 100);
  CHECK(byte_of(*range, 20 * Page) == 120);
  CHECK(byte_of(*range, 20 * Page + 1) == 0);
  CHECK(pages.fetches.load() == 1);
  byte_of(*range, 50 * Page + 1) = 5;  // written without having been read: its page is fetched before
  CHECK(byte_of(*range, 50 * Page) == 150);
  CHECK(pages.fetches.load() == 2);
  CHECK(pages.send(*range) == Page);
  CHECK(pages.device[50 * Page] == 150);
  CHECK(pages.device[50 * Page + 1] == 5);
}

TEST_CASE("what is dirty stays so when it is invalidated, also what nobody has asked for yet") {
  FakePages pages(8);
  const auto range = pages.range();
  byte_of(*range, 2 * Page) = 3;
  range->invalidate();
  byte_of(*range, 2 * Page + 1) = 4;
  CHECK(range->counts().absent == 7);
  CHECK(pages.send(*range) == Page);
  CHECK(pages.device[2 * Page] == 3);
  CHECK(pages.device[2 * Page + 1] == 4);
}

TEST_CASE("touches that go on make fetches longer: few for much") {
  constexpr size_t Pages = 8192;  // 32 MiB
  FakePages pages(Pages);
  const auto range = pages.range(size_t{4} << 20);
  range->invalidate();
  for (size_t i = 0; i < Pages; ++i) pages.device[i * Page] = static_cast<uint8_t>(i % 251);
  for (size_t i = 0; i < Pages; ++i) REQUIRE(byte_of(*range, i * Page) == i % 251);
  CHECK(pages.fetched_bytes.load() == Pages * Page);
  CHECK(pages.largest.load() == size_t{4} << 20);
  CHECK(pages.fetches.load() <= 18);  // 64, 128 KiB ... 4 MiB: 7; then 4 MiB each
  CHECK(range->counts().absent == 0);
}

TEST_CASE("touches here and there bring little") {
  FakePages pages(4096);
  const auto range = pages.range();
  range->invalidate();
  for (size_t i = 0; i < 20; ++i) touch(*range, (i * 1237 % 4096) * Page);
  CHECK(pages.fetches.load() == 20);
  CHECK(pages.fetched_bytes.load() <= 2 * 20 * 16 * Page);
}

TEST_CASE("streams of several arrays, forwards at once") {
  FakePages pages(3 * 2048);
  const auto range = pages.range();
  range->invalidate();
  for (size_t i = 0; i < 2048; ++i) {
    for (size_t array = 0; array < 3; ++array) touch(*range, (array * 2048 + i) * Page);
  }
  CHECK(pages.fetches.load() <= 3 * 10);
}

TEST_CASE("a fetch that was overtaken by an invalidation is done again for who waits") {
  FakePages pages(4);
  auto* const device = pages.device.data();
  std::atomic<int> began{0};
  std::atomic<bool> go{false};
  auto made =
      virt::TrackedRange::make({.at = nullptr, .bytes = 4 * Page, .fetch = [&](size_t offset, void* into, size_t n) {
                                  std::memcpy(into, device + offset, n);
                                  if (++began == 1) {
                                    while (!go) std::this_thread::yield();
                                  }
                                  return true;
                                }});
  REQUIRE(made.ok());
  virt::TrackedRange& range = **made;
  range.invalidate();
  device[0] = 1;
  std::atomic<int> seen{-1};
  std::thread reader([&] { seen = byte_of(range, 0); });
  while (began == 0) std::this_thread::yield();
  device[0] = 2;
  range.invalidate();
  go = true;
  reader.join();
  CHECK(seen == 2);
  CHECK(began == 2);
}

TEST_CASE("a fetch that fails: who waits goes on with what is there") {
  FakePages pages(4);
  const auto range = pages.range();
  byte_of(*range, 0) = 5;
  pages.send(*range);
  range->invalidate();
  pages.fails = true;
  CHECK(byte_of(*range, 0) == 5);
  range->invalidate();
  CHECK_FALSE(range->bring(0, Page, For::Reading));
}

TEST_CASE("many threads, one page; many threads, all pages") {
  FakePages pages(1024);
  pages.takes = std::chrono::microseconds(500);
  const auto range = pages.range();
  range->invalidate();
  for (size_t i = 0; i < 1024; ++i) pages.device[i * Page + 9] = static_cast<uint8_t>(i);
  const auto with_threads = [](auto body) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 8; ++t) threads.emplace_back(body, t);
    for (std::thread& t : threads) t.join();
  };
  std::atomic<size_t> wrong{0};
  with_threads([&](size_t) { wrong += byte_of(*range, 9) != 0; });
  CHECK(pages.fetches.load() == 1);
  with_threads([&](size_t t) {
    for (size_t i = t; i < 1024; i += 8) wrong += byte_of(*range, i * Page + 9) != static_cast<uint8_t>(i);
  });
  CHECK(wrong == 0);
}

TEST_CASE("no write is lost while others take, and no byte is old after an invalidation") {
  constexpr size_t Pages = 256;
  FakePages pages(Pages);
  const auto range = pages.range(size_t{64} << 10);
  std::atomic<bool> stop{false};
  std::atomic<size_t> wrong{0};
  std::thread writer([&] {  // each page's counter only grows: an older byte is a lost one
    std::vector<uint32_t> last(Pages, 0);
    for (uint32_t n = 1; !stop; ++n) {
      const size_t page = n * 97 % (Pages / 2);
      auto& word = *reinterpret_cast<volatile uint32_t*>(range->program_view() + page * Page);
      wrong += word != last[page];
      word = n;
      last[page] = n;
    }
  });
  std::thread reader([&] {
    for (uint32_t n = 0; !stop; ++n) {
      const size_t page = Pages / 2 + n * 31 % (Pages / 2);
      wrong += byte_of(*range, page * Page) != byte_of(*range, page * Page + Page - 1);
    }
  });
  for (int launch = 0; launch < 1500; ++launch) {
    pages.send(*range);
    range->invalidate();
  }
  stop = true;
  writer.join();
  reader.join();
  CHECK(wrong == 0);
}

TEST_CASE("bring, overwrite and wrote_both") {
  FakePages pages(8);
  const auto range = pages.range();
  range->invalidate();
  pages.device.assign(pages.device.size(), 6);
  CHECK(range->bring(0, 2 * Page, For::Reading));
  CHECK(range->counts().clean == 2);
  CHECK(range->bring(0, Page, For::Writing));
  CHECK(range->counts().dirty == 1);
  const int before = pages.fetches;
  CHECK(range->overwrite(4 * Page, 2 * Page));
  CHECK(pages.fetches.load() == before);  // whole pages need not be fetched
  CHECK(range->overwrite(6 * Page + 8, 8));
  CHECK(byte_of(*range, 6 * Page) == 6);
  std::memset(range->alias() + 7 * Page, 9, Page);
  std::memset(pages.device.data() + 7 * Page, 9, Page);
  range->wrote_both(7 * Page, Page);
  CHECK(byte_of(*range, 7 * Page) == 9);
  CHECK(range->counts().read_faults == 0);
}

TEST_CASE("64 GiB of which little is used") {
  constexpr size_t Huge = size_t{64} << 30;
  std::atomic<int> fetches{0};
  auto made = virt::TrackedRange::make({.at = nullptr, .bytes = Huge, .fetch = [&](size_t, void* into, size_t n) {
                                          ++fetches;
                                          std::memset(into, 3, n);
                                          return true;
                                        }});
  REQUIRE_MESSAGE(made.ok(), made.status().text());
  virt::TrackedRange& range = **made;
  size_t sent = 0;
  const auto send = [&] { sent += range.take_dirty([](size_t, size_t, const void*) {}); };
  for (size_t i = 0; i < 64; ++i) byte_of(range, i << 30) = 1;
  send();
  CHECK(sent == 64 * Page);
  range.invalidate();
  CHECK(range.counts().absent == Huge / Page);
  for (size_t i = 0; i < 64; ++i) CHECK(byte_of(range, (i << 30) + 77 * Page) == 3);
  CHECK(fetches == 64);
  for (int launch = 0; launch < 100; ++launch) {
    send();
    range.invalidate();
  }
  CHECK(range.counts().absent == Huge / Page);
}

TEST_CASE("pages that are written and read here and there take no more mappings than a process has") {
  constexpr size_t Pages = size_t{1} << 17;  // 512 MiB
  FakePages pages(Pages);
  const auto range = pages.range();
  range->invalidate();
  for (size_t i = 0; i < Pages / 64; i += 3) touch(*range, (i * 7919 % Pages) * Page);
  for (size_t i = 0; i < Pages; i += 3) byte_of(*range, i * Page) = 1;
  pages.send(*range);
  for (size_t i = 0; i < Pages; i += 3) REQUIRE(pages.device[i * Page] == 1);
  void* const more = ::mmap(nullptr, Page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(more != MAP_FAILED);
  ::munmap(more, Page);
}

TEST_CASE("an address that is taken, an address that is given") {
  void* const taken = ::mmap(nullptr, 4 * Page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto fetch = [](size_t, void*, size_t) { return true; };
  const auto refused = virt::TrackedRange::make({.at = taken, .bytes = Page, .fetch = fetch});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().kind() == Kind::Busy);
  ::munmap(taken, 4 * Page);
  auto made = virt::TrackedRange::make({.at = taken, .bytes = 2 * Page + 1, .fetch = fetch});
  REQUIRE(made.ok());
  CHECK((*made)->program_view() == taken);
  CHECK((*made)->bytes() == 3 * Page);
  CHECK(virt::TrackedRange::find(static_cast<char*>(taken) + 3 * Page - 1) == made->get());
  CHECK(virt::TrackedRange::find(static_cast<char*>(taken) + 3 * Page) == nullptr);
  made->reset();
  CHECK(virt::TrackedRange::find(taken) == nullptr);
}

TEST_CASE("many small ranges take no descriptors, and end in any order") {
  FakePages pages(1);
  std::vector<std::unique_ptr<virt::TrackedRange>> ranges;
  for (int i = 0; i < 3000; ++i) ranges.push_back(pages.range());
  for (const auto& r : ranges) r->invalidate();
  pages.device[1] = 4;
  for (const auto& r : ranges) REQUIRE(byte_of(*r, 1) == 4);
  for (size_t i = 0; i < ranges.size(); i += 2) ranges[i].reset();
  CHECK(byte_of(*ranges[1], 1) == 4);
}

TEST_CASE("while a command is held, other threads' writes wait, so that neither side's bytes are lost") {
  for (const bool is_fresh : {true, false}) {
    FakePages pages(64);
    const auto range = pages.range();
    if (!is_fresh) {
      for (size_t i = 0; i < 64; ++i) byte_of(*range, i * Page) = 1;
      pages.send(*range);
    }
    byte_of(*range, 9 * Page) = 7;
    const int held = range->hold();
    REQUIRE(held >= 0);
    CHECK(pages.send(*range) == Page);
    std::atomic<bool> begins{false};
    std::thread other([&] {
      begins = true;
      for (size_t i = 0; i < 64; ++i) byte_of(*range, i * Page + 1) = 5;
    });
    while (!begins) std::this_thread::yield();
    ::usleep(2000);
    for (size_t i = 0; i < 64; ++i) pages.device[i * Page] = static_cast<uint8_t>(100 + i);  // the command
    range->invalidate();
    range->release(held);
    other.join();
    bool good = true;
    for (size_t i = 0; i < 64; ++i)
      good = good && byte_of(*range, i * Page) == 100 + i && byte_of(*range, i * Page + 1) == 5;
    CHECK(good);
    pages.send(*range);
    CHECK(pages.device[20 * Page] == 120);
    CHECK(pages.device[20 * Page + 1] == 5);
  }
}

TEST_CASE("a thread that launches on and on does not keep another's pages from coming") {
  FakePages pages(64);
  pages.takes = std::chrono::microseconds(300);
  const auto range = pages.range();
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (size_t i = 0; i < 20; ++i) byte_of(*range, i * 3 * Page) = static_cast<uint8_t>(i + 1);
    over = true;
  });
  for (int launches = 0; !over && launches < 100'000; ++launches) {
    const int held = range->hold();
    pages.send(*range);
    range->invalidate();
    range->release(held);
  }
  CHECK(over);
  other.join();
  bool good = true;
  for (size_t i = 0; i < 20; ++i) good = good && byte_of(*range, i * 3 * Page) == i + 1;
  CHECK(good);
}

TEST_CASE("who holds writes on, and who has waited too long") {
  FakePages pages(8);
  const auto range = pages.range();
  byte_of(*range, 0) = 1;
  const int held = range->hold();
  pages.send(*range);
  byte_of(*range, 1) = 2;  // its own
  std::thread other([&] { byte_of(*range, 5 * Page) = 3; });
  other.join();  // it went on, though nobody let go
  range->release(held);
  CHECK(pages.send(*range) == 2 * Page);
  std::vector<int> all;
  for (int i = 0; i < 20; ++i) all.push_back(range->hold());  // more than there is room for
  pages.send(*range);
  for (const int one : all) range->release(one);
  byte_of(*range, 0) = 9;
  CHECK(pages.send(*range) == Page);
}
